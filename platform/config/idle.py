"""Connections that wait for their client's next request."""

from collections import defaultdict
from typing import Protocol

# In one process. Each takes some 20 KB and a file descriptor.
MAX_IDLE = 1_000


class Connection(Protocol):
    def timeout_keep_alive_handler(self) -> None:
        """Close it."""


class IdleConnections:
    """They are kept until they expire, or until there are more than `most`: then one is closed of
    the address that has the most of them, the one that has waited for longest."""

    def __init__(self, most: int = MAX_IDLE) -> None:
        self._most = most
        self._count = 0
        # By address; the one that has waited for longest comes first.
        self._waiting: defaultdict[str, dict[Connection, None]] = defaultdict(dict)

    def add(self, connection: Connection, address: str) -> None:
        self._waiting[address][connection] = None
        self._count += 1
        if self._count > self._most:
            crowded = max(self._waiting, key=lambda each: len(self._waiting[each]))
            oldest = next(iter(self._waiting[crowded]))
            self.discard(oldest, crowded)
            oldest.timeout_keep_alive_handler()

    def discard(self, connection: Connection, address: str) -> None:
        """It waits no more, if it did."""
        connections = self._waiting.get(address, {})
        if connection in connections:
            del connections[connection]
            self._count -= 1
            if not connections:
                del self._waiting[address]
