"""Can a model be called now? Asked before anything is held; `ai.provider_health` knows the
answer."""

from uuid import UUID

from accounts.models import User
from ai.catalog.types import Model
from ai.inference.metrics import refused_callers
from ai.inference.types import Call
from ai.provider_health import services as health
from ai.provider_health.callers import Caller
from ai.provider_health.permit import Permit
from ai.provider_health.services import Refusal
from billing.types import FREE_PLAN
from common.errors import DomainError


def refusal_of(
    model: Model, account_id: UUID, free_network: str | None = None
) -> DomainError | None:
    """The error of a call that this account would make now, if it would be refused:
    ProviderNotAvailable or CallsKeepFailing. `free_network` is that of a `Call`."""
    refusal = health.refusal_of(model, Caller(account_id, free_network))
    return None if refusal is None else refusal.error


def is_available(model: Model) -> bool:
    """Would the provider be called for anybody?"""
    return health.refusal_of(model) is None


def check(model: Model, account_id: UUID, free_network: str | None = None) -> None:
    """Raises ProviderNotAvailable or CallsKeepFailing where a call of this account would be refused
    now."""
    if error := refusal_of(model, account_id, free_network):
        raise error


async def acquire_permit(call: Call) -> Permit:
    """Let a call through to its provider. Raises ProviderNotAvailable and CallsKeepFailing."""
    return _permitted(call, await health.acquire_permit(call.model, caller_of(call)))


async def acquire_permit_of_accepted(call: Call) -> Permit:
    """The same for an order that was accepted, and waits until its provider takes it: it counts
    against nobody. Raises ProviderNotAvailable."""
    return _permitted(call, await health.acquire_permit(call.model, None))


def caller_of(call: Call) -> Caller | None:
    """Whose call it is; None for what the platform calls for itself."""
    if call.funding == "platform":
        return None
    return Caller(call.account_id, call.free_network)


def network_of(user: User) -> str | None:
    """The network that a free account shares its quota of failed calls with: the one it was created
    from. None for accounts on other plans."""
    return user.signup_network if user.plan == FREE_PLAN else None


def _permitted(call: Call, permit: Permit | Refusal) -> Permit:
    if not isinstance(permit, Refusal):
        return permit
    if permit.is_callers:
        refused_callers.labels(call.model.provider, call.model.id).inc()
    raise permit.error
