"""Can a model be called now? Asked before anything is held; `health` knows the answer."""

from catalog.types import Model
from health import services as health
from health.entry import Entry
from health.services import Refusal
from inference.errors import ProviderNotAvailable, ProviderSuspended
from inference.types import Call


def refusal_of(model: Model) -> ProviderNotAvailable | None:
    """The error of a call that would be made now, if it would be refused."""
    refusal = health.refusal_of(model)
    return None if refusal is None else _error_of(refusal)


def check(model: Model) -> None:
    """Raises ProviderNotAvailable where a call would be refused now."""
    if error := refusal_of(model):
        raise error


async def enter(call: Call) -> Entry:
    """Let a call through to its provider. Raises ProviderNotAvailable."""
    entry = await health.enter(call.model, call.account_id)
    if isinstance(entry, Refusal):
        raise _error_of(entry)
    return entry


def _error_of(refusal: Refusal) -> ProviderNotAvailable:
    if refusal.retry_after is None:
        return ProviderNotAvailable()
    return ProviderSuspended(retry_after=refusal.retry_after)
