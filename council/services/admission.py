"""May the calls of an action begin? Asked before it is committed; a hold is the last word."""

from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference import availability
from ai.inference.bounds import worst_chat_cost
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.types import Message
from billing.selectors.affordability import SpendingPower, get_spending_power
from common.errors import DomainError
from council.models import Status, Turn, Version
from council.selectors.prompts import messages_for
from council.services import completion
from council.services.log import append_events
from work.jobs.services import check_room


class Call(Struct, frozen=True):
    """A call that would be made for a version. `model` is None where it has left the catalog."""

    version: Version
    model: Model | None
    messages: tuple[Message, ...]


def calls_of(turn: Turn) -> list[Call]:
    """The calls of an action that have not begun yet."""
    versions = Version.objects.filter(
        generation__turn=turn, generation__status=Status.QUEUED
    ).select_related("generation__turn", "card__session", "message", "revises__generation")
    catalog = get_catalog()
    return [
        Call(
            version,
            catalog.find(version.generation.model),
            messages_for(turn.session, version.card, version),
        )
        for version in versions.order_by("id")
    ]


def refusal_of(call: Call, spending_power: SpendingPower) -> DomainError | None:
    """Why a call could not be made now, by itself."""
    model = call.model
    if model is None:
        return ProviderNotAvailable()
    if unavailable := availability.refusal_of(model, call.version.card.session.account_id):
        return unavailable
    worst = worst_chat_cost(model, call.messages)
    return spending_power.refusal_of(model.id, worst)


def admit(*, user: User, turn: Turn, least: int) -> None:
    """Fail those calls of an action that could not be made, within the action's transaction.

    Raises TooManyRuns, and the refusal itself where fewer than `least` calls are left.
    """
    check_room(account=user)
    spending_power = get_spending_power(user)
    verdicts = {
        call.version.generation_id: refusal_of(call, spending_power) for call in calls_of(turn)
    }
    refused = {call: refusal for call, refusal in verdicts.items() if refusal is not None}
    if not refused:
        return
    if len(verdicts) - len(refused) < least:
        # What the user can do something about (402) comes before what they cannot (503).
        raise min(refused.values(), key=lambda refusal: refusal.status)
    new_events = completion.cancel_because(session=turn.session, failures=refused)
    append_events(session=turn.session, events=new_events)
