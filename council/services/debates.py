"""Debates: rounds in which each card revises its answer in the light of the others'."""

from council.models import Turn
from events.types import NewEvent


def after_round(*, turn: Turn) -> tuple[list[NewEvent], bool]:
    """What a round whose calls have all ended has brought: its events, and does another begin?"""
    return [], False
