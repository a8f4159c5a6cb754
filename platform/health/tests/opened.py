"""Circuits that are open for all processes, whatever their rules are."""

from collections.abc import Iterator
from contextlib import contextmanager

from health.board import Name
from health.circuit import Count, Rules, Tally
from health.store import Store

_RULES = Rules(window=60.0, min_calls=1, share=0.0, open_seconds=600.0)


@contextmanager
def opened(provider: str, model: str) -> Iterator[None]:
    """The circuit of this model is open until the block ends."""
    store, name = Store(), Name(provider, model)
    now = store.read().now
    failed = Tally(int(now / _RULES.slot_seconds), failed=1, ours=1)
    store.update(name, [Count(failed)], now, _RULES)
    try:
        yield
    finally:
        store._redis.hdel("health:circuits", "/".join(name))
