"""Bounds the idle connections of a process."""

from collections import defaultdict
from typing import Protocol

# Of one process. Each takes some 20 KB and a file descriptor.
MAX_IDLE = 1_000


class Connection(Protocol):
    def timeout_keep_alive_handler(self) -> None:
        """Close the connection."""


class IdleConnections:
    """Idle connections are kept until they expire. Above `most`, one is closed: the longest idle
    one of the address with the most idle connections."""

    def __init__(self, most: int = MAX_IDLE) -> None:
        self._most = most
        self._count = 0
        # By address; the longest idle one comes first.
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
        """The connection is not idle any more, if it was."""
        connections = self._waiting.get(address, {})
        if connection in connections:
            del connections[connection]
            self._count -= 1
            if not connections:
                del self._waiting[address]
