"""What an order would cost, before it is placed."""

from ai.inference.availability import check
from billing.selectors.affordability import get_spending_power
from common.errors import DomainError
from studios.preparation import PreparedOrder
from studios.services.ordering import check_room
from studios.types import Estimate


def estimate(prepared: PreparedOrder) -> Estimate:
    """The price of an order. Nothing is held. Raises ProviderNotAvailable,
    CallsKeepFailing."""
    check(prepared.model, prepared.user.pk)
    spending_power = get_spending_power(prepared.user)
    terms = prepared.order.terms
    cost = terms.cost_of(terms.quantity)
    payment = spending_power.price(prepared.model.id, cost)
    return Estimate(
        model=prepared.model.id,
        params=prepared.params,
        expected=payment.total,
        at_most=payment.total,
        available=spending_power.available,
        refusal=_refusal(prepared) or spending_power.refusal_of(prepared.model.id, cost),
    )


def _refusal(prepared: PreparedOrder) -> DomainError | None:
    try:
        check_room(prepared.user)
    except DomainError as error:
        return error
    return None
