"""Cards as their owner sees them."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_billed, get_usage
from common.errors import NotFound
from council.models import Card, Generation, Status, Version
from events.selectors import list_data


class Delta(Struct, frozen=True):
    """What is read of a `card.delta`."""

    card_id: UUID
    version: int
    text: str


_decode_delta = msgspec.json.Decoder(Delta).decode


class CardState(Struct, frozen=True, kw_only=True):
    """A card and its current version. `usage` is of that version, `cost` of all, in nano-USD.
    `content` is None where the text goes by another way."""

    card: Card
    version: Version
    content: str | None
    usage: ChargeUsage | None
    cost: int


def live_cards() -> QuerySet[Card]:
    """Cards that were not removed, the oldest first, each with its current version."""
    cards = Card.objects.filter(removed_at=None).select_related("current__generation")
    return cards.order_by("id")


def get_card(user: User, card_id: UUID) -> Card:
    """The user's card. Raises NotFound."""
    owned = live_cards().filter(pk=card_id, session__account=user)
    card = owned.select_related("session", "current__message").first()
    if card is None:
        raise NotFound
    return card


def get_version(card: Card, number: int | None) -> Version:
    """A version of the card, its current one for None. Raises NotFound."""
    if number is None:
        return current_of(card)
    versions = card.versions.select_related("generation", "message")
    found = versions.filter(number=number).first()
    if found is None:
        raise NotFound("This card has no such version.")
    return found


def current_of(card: Card) -> Version:
    """The card's current version: it has one from the transaction on that made it."""
    assert card.current is not None  # noqa: S101 - see above
    return card.current


def is_running(card: Card) -> bool:
    """Is a call for it queued or running?"""
    return current_of(card).generation.status in (Status.QUEUED, Status.RUNNING)


def has_answer(card: Card) -> bool:
    """Is its current version a finished answer?"""
    return current_of(card).generation.status == Status.COMPLETED


def text_of(version: Version) -> str:
    """All that the version says, so far."""
    generation = version.generation
    running = generation.status in (Status.QUEUED, Status.RUNNING)
    return text_in_log(generation, version) if running else generation.content


def text_in_log(generation: Generation, version: Version) -> str:
    """What the log has of a generation's text."""
    if generation.first_seq is None:
        return ""
    payloads = list_data(
        generation.session_id, event_type="card.delta", after_seq=generation.first_seq
    )
    mine = (version.card_id, version.number)
    deltas = map(_decode_delta, payloads)
    return "".join(delta.text for delta in deltas if (delta.card_id, delta.version) == mine)


def state_of(user: User, card: Card, *, with_text: bool) -> CardState:
    """One card. Raises nothing."""
    return states_of(user, [card], with_text=with_text)[0]


def states_of(user: User, cards: Sequence[Card], *, with_text: bool) -> list[CardState]:
    """The cards as they are. A card whose call still runs costs one query more for its text."""
    calls: dict[UUID, list[UUID]] = {card.pk: [] for card in cards}
    for card_id, call in Generation.objects.filter(card__in=calls).values_list("card", "id"):
        calls[card_id].append(call)
    usage = get_usage(user, [call for of_card in calls.values() for call in of_card])
    return [
        _state(card, [usage[call] for call in calls[card.pk] if call in usage], usage, with_text)
        for card in cards
    ]


def session_cost(user: User, session_id: UUID) -> int:
    """What was paid for all calls of a council, those of removed cards too; in nano-USD."""
    return get_billed(user, Generation.objects.filter(session=session_id))


def _state(
    card: Card, billed: list[ChargeUsage], usage: dict[UUID, ChargeUsage], with_text: bool
) -> CardState:
    version = current_of(card)
    return CardState(
        card=card,
        version=version,
        content=text_of(version) if with_text else None,
        usage=usage.get(version.generation_id),
        cost=sum(call.billed for call in billed),
    )
