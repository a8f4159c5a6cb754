"""What an action has begun, as it is by now."""

from accounts.models import User
from common.errors import NotFound
from council.models import Turn
from council.selectors.cards import CardState, live_cards, states_of


def cards_of(user: User, turn: Turn) -> list[CardState]:
    """The cards that the user's action made or changed, but those that were removed since."""
    cards = live_cards().filter(session__account=user, pk__in=turn.generations.values("card"))
    return states_of(user, list(cards), with_text=True)


def card_of(user: User, turn: Turn) -> CardState:
    """The one card of such an action. Raises NotFound where it was removed since."""
    for card in cards_of(user, turn):
        return card
    raise NotFound
