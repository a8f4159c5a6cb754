"""Circuits that are open for all processes, whatever their rules are."""

from collections.abc import Iterator
from contextlib import contextmanager

from health.circuit import Circuit
from health.name import Name
from health.store import _CIRCUITS, Store, _encode


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
