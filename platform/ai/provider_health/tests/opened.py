"""Circuits that are open for all processes, whatever their rules are, and callers that are
refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from ai.provider_health.callers import Caller
from ai.provider_health.circuit import Circuit
from ai.provider_health.name import Name
from ai.provider_health.store import _CIRCUITS, _REFUSED, Store, _encode


@contextmanager
def opened(provider: str, model: str) -> Iterator[None]:
    """The circuit of this model is open until the block ends: no probe of it is due."""
    store, name = Store(), Name(provider, model)
    now = store.read().now
    circuit = Circuit(
        open_since=now,
        cause="connect",
        next_probe_at=now + 600.0,
        closes_at=now + 615.0,
        failed_probes=1,
    )
    store._redis.hset(_CIRCUITS, mapping={str(name): _encode(circuit)})
    try:
        yield
    finally:
        store._redis.hdel(_CIRCUITS, str(name))


@contextmanager
def refused_alone(account_id: UUID, provider: str, model: str) -> Iterator[None]:
    """This caller is refused at this model, by all processes, until the block ends."""
    store = Store()
    key = Caller(account_id).at(Name(provider, model))
    store._redis.zadd(_REFUSED, {key: store.read().now + 60.0})
    try:
        yield
    finally:
        store._redis.zrem(_REFUSED, key)
