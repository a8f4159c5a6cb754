"""The two sides of a comparison."""

from uuid import UUID

from django.db.models import QuerySet

from common.errors import ValidationFailed
from council.errors import CardNotFound
from council.models import Card, Version
from council.selectors.cards import get_version, live_cards


def get_sides(
    card: Card,
    *,
    against: UUID | None = None,
    version: int | None = None,
    against_version: int | None = None,
) -> tuple[Version, Version]:
    """The left version, of the card, and the right one; current ones unless they are numbered.

    `against` None means the same card where both are numbered, else the council's only other card.
    Raises CardNotFound, also for a card of another council, NotFound for an unknown version, and
    ValidationFailed where there is no other side.
    """
    if against is not None:
        other = _cards_beside(card).filter(pk=against).first()
        if other is None:
            raise CardNotFound
    elif version is not None and against_version is not None:
        other = card
    else:
        other = _only_other(card)
    return get_version(card, version), get_version(other, against_version)


def _cards_beside(card: Card) -> QuerySet[Card]:
    return live_cards().filter(session=card.session_id)


def _only_other(card: Card) -> Card:
    others = list(_cards_beside(card).exclude(pk=card.pk)[:2])
    if len(others) != 1:
        raise ValidationFailed.of(
            "against", "Name a card, or two versions of this one: it is not the only other card."
        )
    return others[0]
