"""The door to providers: which calls are let through, and who makes a probe."""

import asyncio
import math
from collections.abc import Callable, Mapping
from functools import cache
from uuid import uuid4

from msgspec import Struct

from ai.catalog.types import Modality, Model
from ai.provider_health.callers import Caller
from ai.provider_health.errors import CallsKeepFailing, ProviderNotAvailable, ProviderSuspended
from ai.provider_health.exchange import Exchange
from ai.provider_health.name import Name
from ai.provider_health.permit import Permit, ProbePermit
from ai.provider_health.rules import caller_rules, circuit_rules
from ai.provider_health.status_cache import StatusCache
from ai.provider_health.store import Store
from ai.providers import registry
from ai.providers.keys import key_rests
from common.errors import DomainError

# Seconds for the first look at what others know; calls are let through afterwards in any case.
BEGIN_SECONDS = 1.0
# Of an open circuit, whose probe may close it any moment.
MAX_RETRY_AFTER = 60
# Probes of these cost a fraction of a cent. A picture costs cents and takes minutes, a video more:
# their circuits open by faults alone, and close after CIRCUIT_OPEN_SECONDS.
PROBED: frozenset[Modality] = frozenset({"chat", "embedding", "speech"})


_WIRES: Mapping[Modality, Callable[[str], object]] = {
    "chat": registry.get_chat_wire,
    "embedding": registry.get_embedding_wire,
    "image": registry.get_image_wire,
    "speech": registry.get_speech_wire,
    "video": registry.get_video_wire,
    "3d": registry.get_asset_wire,
}


class Refusal(Struct, frozen=True):
    """A call is not let through. `retry_after`: whole seconds until it may be, None where the
    provider is not configured, or an operator has switched it or the model off. `is_callers`: the
    caller is refused alone, because its own calls fail."""

    retry_after: int | None = None
    is_callers: bool = False

    @property
    def error(self) -> DomainError:
        """ProviderNotAvailable or CallsKeepFailing."""
        if self.is_callers:
            return CallsKeepFailing(retry_after=self.retry_after)
        if self.retry_after is None:
            return ProviderNotAvailable()
        return ProviderSuspended(retry_after=self.retry_after)


class Health:
    """The status cache of this process, and its exchange with others."""

    def __init__(self) -> None:
        self.status = StatusCache(circuit_rules, caller_rules)
        self.exchange = Exchange(self.status, Store(), key_rests, circuit_rules, caller_rules)


@cache
def get_health() -> Health:
    """The health of providers, as this process knows it."""
    return Health()


def get_started() -> Health:
    """The same, once this process has heard of the others."""
    health = get_health()
    if not health.exchange.has_begun:
        health.exchange.wait_until_begun(BEGIN_SECONDS)
    return health


def close() -> None:
    """End the exchange of this process."""
    get_health().exchange.close()


def refusal_of(model: Model, caller: Caller | None = None) -> Refusal | None:
    """Why a call would be refused now, one of this caller if there is one; None where it would be
    let through. Reads memory only."""
    health = get_started()
    if _WIRES[model.modality](model.provider) is None:
        return Refusal()
    return _refusal_of(health.status, name_of(model), caller)


def is_offered(model: Model) -> bool:
    """Is the model's provider configured, and not switched off? A circuit may be open."""
    refusal = refusal_of(model)
    return refusal is None or refusal.retry_after is not None


async def acquire_permit(model: Model, caller: Caller | None) -> Permit | Refusal:
    """Let a call through, or refuse it. A call of no caller counts against nobody."""
    health = get_health()
    if not health.exchange.has_begun:
        await asyncio.to_thread(get_started)
    return _refusal_of(health.status, name_of(model), caller) or permit_of(model, caller)


def permit_of(model: Model, caller: Caller | None) -> Permit:
    """The permit of a call that is let through."""
    health = get_health()
    return Permit(health.status, health.exchange.hurry, name_of(model), caller)


async def claim_probe(model: Model) -> ProbePermit | None:
    """The permit of a probe of the model, which the caller releases, where this process may make
    the probe."""
    health, name, probe = get_health(), name_of(model), uuid4().hex
    if not await asyncio.to_thread(health.exchange.claim, name, probe):
        return None
    return ProbePermit(health.status, health.exchange.hurry, name, probe)


def name_of(model: Model) -> Name:
    """The name of the model's circuit."""
    return Name(model.provider, model.id)


def _refusal_of(status: StatusCache, name: Name, caller: Caller | None) -> Refusal | None:
    if status.is_off(name):
        return Refusal()
    circuit, now = status.circuit(name), status.now()
    if circuit.is_open(now):
        return Refusal(min(_whole_seconds(circuit.wait(now)), MAX_RETRY_AFTER))
    if caller is not None and (wait := status.wait_of(caller, name)):
        return Refusal(_whole_seconds(wait), is_callers=True)
    return None


def _whole_seconds(wait: float) -> int:
    return max(1, math.ceil(wait))
