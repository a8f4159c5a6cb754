"""What an order would cost, before it is placed."""

from billing.selectors.affordability import get_spending_power
from common.errors import DomainError
from inference.availability import check
from studios.drafts import Draft
from studios.services.ordering import check_room
from studios.types import Estimate


def estimate(draft: Draft) -> Estimate:
    """The price of an order. Nothing is held. Raises ProviderNotAvailable,
    CallsKeepFailing."""
    check(draft.model, draft.user.pk)
    spending_power = get_spending_power(draft.user)
    terms = draft.order.terms
    cost = terms.cost_of(terms.quantity)
    payment = spending_power.price(draft.model.id, cost)
    return Estimate(
        model=draft.model.id,
        params=draft.params,
        expected=payment.total,
        at_most=payment.total,
        available=spending_power.available,
        refusal=_refusal(draft) or spending_power.refusal_of(draft.model.id, cost),
    )


def _refusal(draft: Draft) -> DomainError | None:
    try:
        check_room(draft.user)
    except DomainError as error:
        return error
    return None
