"""Restoring a version: it is appended as a new one, so that nothing of a card's history is lost."""

import math
from datetime import timedelta

from django.utils import timezone

from ai.generations.types import Piece
from council import events
from council.errors import TooManyRestorations, TooManyVersions
from council.models import Card, Version
from council.services import generations
from council.types import MAX_RESTORATIONS, MAX_RESTORATIONS_PER_DAY
from events.types import NewEvent

_DAY = timedelta(days=1)


def check_pace(*, card: Card) -> None:
    """Raises TooManyRestorations, and TooManyVersions where waiting does not help: each writes a
    row, and the version's text into the log, which stay."""
    restored = card.versions.filter(source=Version.Source.RESTORE).order_by("-number")
    if restored.count() >= MAX_RESTORATIONS:
        raise TooManyVersions(
            f"Versions of this card were restored {MAX_RESTORATIONS:,} times, which is all they "
            "may. Add a new card to go on."
        )
    times = restored.values_list("created_at", flat=True)
    for oldest in times[MAX_RESTORATIONS_PER_DAY - 1 : MAX_RESTORATIONS_PER_DAY]:
        wait = oldest + _DAY - timezone.now()
        if wait > timedelta():
            raise TooManyRestorations(retry_after=math.ceil(wait.total_seconds()))


def restore(*, card: Card, chosen: Version, actor: str) -> list[NewEvent]:
    """Make a finished version of the card its current one again. Returns the events."""
    version = generations.append_version(
        card=card,
        generation=chosen.generation,
        source=Version.Source.RESTORE,
        parent=chosen.parent,
        message=chosen.message,
        revises=card.current,
        restored_from=chosen.number,
        instructions=chosen.instructions,
        details=chosen.details,
    )
    generation = chosen.generation
    return [
        events.card_event("restored", card.session, card, actor),
        *events.deltas(version, generation.model, [Piece("text", generation.content)], 0),
    ]
