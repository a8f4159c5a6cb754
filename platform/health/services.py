"""The door to providers: which calls are let through."""

import asyncio
import math
from collections.abc import Callable, Mapping
from functools import cache
from uuid import UUID, uuid4

from msgspec import Struct

from catalog.types import Modality, Model
from health.board import Board, Name
from health.entry import Entry
from health.exchange import Exchange
from health.rules import circuit_rules
from health.store import Store
from providers import registry
from providers.keys import key_rests

# Seconds for the first look at what others know; calls are let through afterwards in any case.
BEGIN_SECONDS = 1.0
# Where another call is the probe, its outcome is known soon.
MAX_RETRY_AFTER = 60


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
    provider is not configured, or an operator has switched it or the model off."""

    retry_after: int | None = None


class Health:
    """The board of this process, and its exchange with others."""

    def __init__(self) -> None:
        self.board = Board(circuit_rules)
        self.exchange = Exchange(self.board, Store(), key_rests, circuit_rules)


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


def refusal_of(model: Model) -> Refusal | None:
    """Why a call would be refused now; None where it would be let through. Reads memory only."""
    health = get_started()
    if _WIRES[model.modality](model.provider) is None:
        return Refusal()
    return _refusal_of(health.board, _name(model))


def is_offered(model: Model) -> bool:
    """Is the model's provider configured, and not switched off? A circuit may be open."""
    refusal = refusal_of(model)
    return refusal is None or refusal.retry_after is not None


async def enter(model: Model, account_id: UUID) -> Entry | Refusal:
    """Let a call through, or refuse it. No call waits for Redis but the probe of a half-open
    circuit."""
    health, name = get_health(), _name(model)
    if not health.exchange.has_begun:
        await asyncio.to_thread(get_started)
    if refusal := _refusal_of(health.board, name):
        return refusal
    probe = ""
    if health.board.circuit(name).open_until:
        probe = uuid4().hex
        if not await _is_probe(health, name, probe):
            return _refusal_of(health.board, name) or Refusal(1)
    return entry_of(model, account_id, probe=probe)


def entry_of(model: Model, account_id: UUID, *, probe: str = "") -> Entry:
    """The entry of a call that is let through."""
    health = get_health()
    return Entry(health.board, health.exchange.hurry, _name(model), account_id, probe)


def _name(model: Model) -> Name:
    return Name(model.provider, model.id)


def _refusal_of(board: Board, name: Name) -> Refusal | None:
    if board.is_off(name):
        return Refusal()
    circuit = board.circuit(name)
    if not circuit.open_until:
        return None
    wait = circuit.wait(board.now())
    return Refusal(min(math.ceil(wait), MAX_RETRY_AFTER)) if wait else None


async def _is_probe(health: Health, name: Name, probe: str) -> bool:
    """Claim the probe: first within this process, then among all."""
    if not health.board.begin_probe(name, probe):
        return False
    is_granted = False
    try:
        is_granted = await asyncio.to_thread(health.exchange.claim, name, probe)
    finally:
        if not is_granted:
            health.board.end_probe(probe)
    return is_granted
