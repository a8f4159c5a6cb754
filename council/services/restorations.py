"""Restoring a version: it is appended as a new one, so that nothing of a card's history is lost."""

from council import events
from council.models import Card, Version
from council.services import generations
from events.types import NewEvent


def restore(*, card: Card, chosen: Version, actor: str) -> list[NewEvent]:
    """Make a finished version of the card its current one again. Returns the events.

    Raises TooManyVersions.
    """
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
        *events.deltas(version, generation.model, generation.content, 0),
    ]
