"""Which model merges in the place of one that cannot be reached."""

from collections.abc import Iterable

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference import availability
from ai.inference.bounds import worst_chat_cost
from billing.selectors.affordability import get_spending_power
from council.models import Generation, Version
from council.selectors.prompts import messages_for
from council.selectors.sources import sources_of


def substitute_of(failed: Generation, version: Version) -> Model | None:
    """A model that can be called and paid, costs at most what was asked for, and has written none
    of the answers: of another provider if there is one, and of those the nearest in price."""
    first = get_catalog().find(failed.model)
    if first is None:
        return None  # nothing is known of its price any more
    strangers = _strangers(version, first)
    worst = _worst_costs([first, *strangers], failed, version)
    spending_power = get_spending_power(failed.session.account)
    paid = spending_power.price(first.id, worst[first.id]).total
    fitting = [
        model
        for model in strangers
        if worst[model.id] <= worst[first.id]
        # Less at cost may be more to pay: what no allowance covers is paid twice.
        and spending_power.price(model.id, worst[model.id]).total <= paid
        and spending_power.refusal_of(model.id, worst[model.id]) is None
    ]
    return max(
        fitting,
        key=lambda model: (model.provider != first.provider, worst[model.id], model.id),
        default=None,
    )


def _strangers(version: Version, first: Model) -> list[Model]:
    """Models that can be called, and have no part in the merge so far."""
    authors = {source.generation.model for _, source in sources_of(version)}
    return [
        model
        for model in get_catalog().models.values()
        if model.modality == "chat"
        and model.id not in {*authors, first.id}
        and availability.is_available(model)
    ]


def _worst_costs(models: Iterable[Model], failed: Generation, version: Version) -> dict[str, int]:
    """The most that the merge can cost with each, in nano-USD at cost."""
    messages = messages_for(failed.session, failed.card, version)
    return {model.id: worst_chat_cost(model, messages) for model in models}
