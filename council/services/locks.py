"""A change of a council holds its row, so that one thing happens to it at a time."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from council.models import Card, Generation, Session
from council.selectors.cards import live_cards


def lock_session(user: User, session_id: UUID) -> Session:
    """The user's council, held until the transaction ends. Raises NotFound."""
    owned = Session.objects.select_for_update(of=("self",)).select_related("account")
    session = owned.filter(account=user, pk=session_id).first()
    if session is None:
        raise NotFound
    return session


def lock_card(user: User, card_id: UUID) -> Card:
    """The user's card, its council held. Raises NotFound."""
    owned = Card.objects.filter(pk=card_id, session__account=user)
    session_id = owned.values_list("session", flat=True).first()
    if session_id is None:
        raise NotFound
    session = lock_session(user, session_id)
    card = live_cards().filter(pk=card_id).first()
    if card is None:
        raise NotFound
    card.session = session
    return card


def lock_generation(generation_id: UUID) -> Generation | None:
    """A generation, its council held; for those who run it. None where the council was deleted."""
    held = Session.objects.select_for_update(of=("self",)).select_related("account")
    session = held.filter(generations=generation_id).first()
    if session is None:
        return None
    generation = Generation.objects.select_related(
        "turn", "card__current__generation", "card__current__message"
    ).get(pk=generation_id)
    generation.session = generation.card.session = generation.turn.session = session
    return generation
