"""Merging answers into one, by one more model, on a card of its own."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from accounts.models import User
from common.errors import ValidationFailed
from council import events
from council.models import Card, Turn, Version
from council.selectors.cards import current_of
from council.selectors.choices import finished_cards
from council.services import generations, syntheses
from council.services.locks import lock_session
from council.services.log import append_events
from council.services.sessions import check_room
from council.types import MergeMode
from events.types import USER

# What these do is in the instructions.
_INSTRUCTED = (MergeMode.GUIDED, MergeMode.CUSTOM)


@transaction.atomic
def merge(
    *,
    user: User,
    session_id: UUID,
    mode: MergeMode,
    card_ids: Sequence[UUID] | None = None,
    model: str | None = None,
    instructions: str = "",
) -> Card:
    """Merge the finished answers of these cards, or of all that answer. The model does not learn
    which model wrote which answer.

    Raises ValidationFailed for a card that is named twice and for missing instructions, NotFound,
    SessionBusy, CardRunning for a named card that is being written, NotEnoughCards, TooManyCards.
    """
    if mode in _INSTRUCTED and not instructions.strip():
        raise ValidationFailed.of("instructions", f"The mode {mode} needs them.")
    session = lock_session(user, session_id)
    generations.check_free(session=session)
    sources = finished_cards(session, card_ids)
    check_room(session=session, kind=Card.Kind.MERGE)
    model = model or default_model(sources)
    turn = generations.open_turn(session=session, kind=Turn.Kind.MERGE, params={"mode": mode})
    card = Card.objects.create(session=session, kind=Card.Kind.MERGE, prompt=_question(sources))
    generations.begin(
        card=card,
        turn=turn,
        source=Version.Source.MERGE,
        model=model,
        details=syntheses.details_of(
            mode=mode, instructions=instructions, sources=sources, model=model
        ),
    )
    new_events = [
        events.card_created(session, card),
        events.merge_event("started", turn, card, USER),
        *generations.changes(session=session),
    ]
    append_events(session=session, events=new_events)
    return card


def default_model(sources: Sequence[Card]) -> str:
    """The model that merges where none is named: that of the oldest card, which the user has
    chosen. It does not learn which of the answers is its own."""
    return current_of(sources[0]).generation.model


def _question(sources: Sequence[Card]) -> str:
    """The question that all of them answer, where it is not the council's."""
    questions = {card.prompt for card in sources}
    return questions.pop() if len(questions) == 1 else ""
