"""Which cards a merge or a debate is about."""

from collections.abc import Sequence
from uuid import UUID

from common.errors import ValidationFailed
from council.errors import CardNotFound, CardRunning, NotEnoughCards
from council.models import Card, Session
from council.selectors.cards import has_answer, is_running, live_cards
from council.types import MIN_ANSWERS


def finished_cards(session: Session, card_ids: Sequence[UUID] | None) -> list[Card]:
    """Those of the named cards that have a finished answer, or of all that answer the question; the
    oldest first.

    Raises CardNotFound, ValidationFailed for a card that is named twice, CardRunning for one of the
    named that is being written, NotEnoughCards where fewer than two have an answer.
    """
    if card_ids is None:
        cards = list(live_cards().filter(session=session, kind=Card.Kind.ANSWER))
    else:
        cards = _named(session, card_ids)
        if any(is_running(card) for card in cards):
            raise CardRunning
    finished = [card for card in cards if has_answer(card)]
    if len(finished) < MIN_ANSWERS:
        raise NotEnoughCards
    return finished


def _named(session: Session, card_ids: Sequence[UUID]) -> list[Card]:
    if len(set(card_ids)) < len(card_ids):
        raise ValidationFailed.of("card_ids", "Name a card once only.")
    cards = list(live_cards().filter(session=session, pk__in=card_ids))
    if len(cards) < len(card_ids):
        raise CardNotFound
    return cards
