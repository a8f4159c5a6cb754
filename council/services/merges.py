"""Merging answers into one."""

from common.errors import DomainError
from council.models import Generation, Turn, Version
from events.types import NewEvent


def fall_back(*, version: Version, failed: Generation, failure: DomainError) -> list[NewEvent]:
    """Let another model merge, once, where the first could not be reached. Returns the events; none
    where there is no falling back."""
    return []


def after(*, turn: Turn) -> list[NewEvent]:
    """The events of a merge that has ended."""
    return []
