"""Which model merges in the place of one that cannot be reached."""

from billing.selectors.affordability import get_purse
from catalog.selectors import get_catalog
from catalog.types import Model, TokenPrice
from council.models import Generation, Version
from council.prompts import messages_for
from council.selectors.sources import sources_of
from inference.bounds import chat_cost, input_bound, output_bound
from providers.registry import get_chat_wire


def substitute_of(failed: Generation, version: Version) -> Model | None:
    """A model that can be called and paid, and has written none of the answers: of another provider
    if there is one, and of those the nearest in price, cheaper rather than dearer."""
    catalog = get_catalog()
    authors = {source.generation.model for _, source in sources_of(version)}
    strangers = [
        model
        for model in catalog.models.values()
        if model.modality == "chat"
        and model.id not in {*authors, failed.model}
        and get_chat_wire(model.provider) is not None
    ]
    first = catalog.find(failed.model)
    paid = _that_can_be_paid(strangers, failed, version)
    return min(paid, key=lambda model: _distance(model, first), default=None)


def _that_can_be_paid(models: list[Model], failed: Generation, version: Version) -> list[Model]:
    session = failed.session
    messages = messages_for(session, failed.card, version)
    purse = get_purse(session.account)
    worst = {
        model.id: chat_cost(model, input_bound(model, messages), output_bound(model))
        for model in models
    }
    return [model for model in models if purse.refusal_of(model.id, worst[model.id]) is None]


def _distance(model: Model, first: Model | None) -> tuple[bool, bool, int, str]:
    """The less, the better. Of a model that has left the catalog nothing is known any more."""
    provider = first.provider if first else ""
    difference = _rate(model) - (_rate(first) if first else 0)
    return model.provider == provider, difference > 0, abs(difference), model.id


def _rate(model: Model) -> int:
    price = model.price
    return price.input + price.output if isinstance(price, TokenPrice) else 0
