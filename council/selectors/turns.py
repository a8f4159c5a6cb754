"""The cards of an action, as they are now."""

from accounts.models import User
from common.errors import NotFound
from council.models import Card, Turn
from council.selectors.cards import CardState, states_of


def cards_of(user: User, turn: Turn) -> list[CardState]:
    """The cards that the user's action made or changed, the oldest first; removed ones too, for a
    client that repeats the request. Raises NotFound where the council has been deleted since."""
    cards = Card.objects.filter(session__account=user, pk__in=turn.generations.values("card"))
    known = cards.select_related("current__generation").order_by("id")
    states = states_of(user, list(known), with_text=True)
    if not states:
        raise NotFound("What this request began has been deleted.")
    return states


def card_of(user: User, turn: Turn) -> CardState:
    """The card of an action that has one. Raises NotFound as `cards_of` does."""
    [card] = cards_of(user, turn)
    return card
