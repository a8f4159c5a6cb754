"""Debates: rounds in which each card revises its answer in the light of the others'."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from accounts.models import User
from common.errors import ValidationFailed
from council import events, labels
from council.models import Card, Turn
from council.selectors.choices import finished_cards
from council.services import generations
from council.services import rounds as debate_rounds
from council.services.locks import lock_session
from council.services.log import append_events
from council.types import MAX_ROUNDS


@transaction.atomic
def debate(
    *,
    user: User,
    session_id: UUID,
    rounds: int = 1,
    card_ids: Sequence[UUID] | None = None,
    focus: str = "",
) -> Turn:
    """Let these cards, or all that answer, debate for at most so many rounds. None learns whose an
    answer is but their own.

    Raises ValidationFailed for a number of rounds, a card that is named twice and one that merges,
    NotFound, SessionBusy, CardRunning for a named card that is being written, NotEnoughCards,
    TooManyVersions.
    """
    if not 1 <= rounds <= MAX_ROUNDS:
        raise ValidationFailed.of("rounds", f"A debate has 1 to {MAX_ROUNDS} rounds.")
    session = lock_session(user, session_id)
    generations.check_free(session=session)
    cards = finished_cards(session, card_ids)
    _check(cards, rounds)
    turn = generations.open_turn(
        session=session,
        kind=Turn.Kind.DEBATE,
        params={
            "rounds": rounds,
            "focus": focus,
            "labels": labels.deal([card.pk for card in cards]),
        },
    )
    new_events = [
        events.debate_started(turn),
        *debate_rounds.begin(turn=turn, cards=cards),
        *generations.changes(session=session),
    ]
    append_events(session=session, events=new_events)
    return turn


def _check(cards: Sequence[Card], rounds: int) -> None:
    """A debate does not stop in the middle for lack of room: of each card it makes a version a
    round."""
    if any(card.kind == Card.Kind.MERGE for card in cards):
        raise ValidationFailed.of("card_ids", "A merge takes no part in a debate.")
    for card in cards:
        generations.check_room(card=card, versions=rounds)
