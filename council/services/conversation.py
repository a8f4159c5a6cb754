"""Going on after the first answers: with one card, or with all of them at once."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from council import events
from council.errors import NothingToAnswer
from council.models import Card, Message, Session, Turn, Version
from council.selectors.cards import current_of, has_answer, live_cards
from council.services import generations
from council.services.locks import lock_card, lock_session
from council.services.log import append_events
from events.types import NewEvent


@transaction.atomic
def message_card(*, user: User, card_id: UUID, content: str) -> Message:
    """Say something to one card. Its reply is a new version of it.

    Raises NotFound, CardRunning, SessionBusy, NothingToAnswer, TooManyVersions.
    """
    card = lock_card(user, card_id)
    session = card.session
    turn = generations.open_turn(session=session, kind=Turn.Kind.MESSAGE)
    message = Message.objects.create(session=session, turn=turn, card=card, content=content)
    new_events = [events.message_created(message), *_ask(session, card, turn, message)]
    append_events(session=session, events=[*new_events, *generations.changes(session=session)])
    return message


@transaction.atomic
def chat(*, user: User, session_id: UUID, content: str) -> Message:
    """Say something to every card that answers. Each sees its own conversation alone.

    A card that is being written, or has no finished answer, is passed over. Raises NotFound,
    SessionBusy, NothingToAnswer where none has one, TooManyVersions.
    """
    session = lock_session(user, session_id)
    turn = generations.open_turn(session=session, kind=Turn.Kind.CHAT)
    cards = live_cards().filter(session=session, kind=Card.Kind.ANSWER)
    answered = [card for card in cards if has_answer(card)]
    if not answered:
        raise NothingToAnswer("No card of this council has a finished answer to go on from.")
    message = Message.objects.create(session=session, turn=turn, content=content)
    new_events = [events.message_created(message)]
    for card in answered:
        card.session = session
        new_events += _ask(session, card, turn, message)
    append_events(session=session, events=[*new_events, *generations.changes(session=session)])
    return message


def _ask(session: Session, card: Card, turn: Turn, message: Message) -> list[NewEvent]:
    generations.check_idle(card=card)
    if not has_answer(card):
        raise NothingToAnswer
    last = current_of(card)
    generations.begin(
        card=card,
        turn=turn,
        source=Version.Source.MESSAGE,
        model=last.generation.model,
        parent=last,
        message=message,
    )
    return [events.version_created(session, card)]
