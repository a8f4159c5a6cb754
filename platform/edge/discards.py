"""Reads and discards the rest of refused bodies, one read after the other.

A client reads a refusal when it has sent all of its body, so the body has to be read. Each read of
a hundred such clients brings up to 256 KB: without a pace the event loop would do nothing else for
a tenth of a second.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from common.perloop import PerLoop

# Seconds between two reads, of all bodies together: 25 MB a second at most. A read takes up to half
# a millisecond, most of it in the system.
PAUSE_SECONDS = 0.01


class DiscardPacer:
    """Paces the discarding reads of one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Callable[[], object]] = deque()

    def schedule(self, read: Callable[[], object]) -> None:
        """Call `read` when its turn comes."""
        if not self._waiting:
            self._loop.call_later(PAUSE_SECONDS, self._read_next)
        self._waiting.append(read)

    async def wait_turn(self) -> None:
        """Wait for the next turn."""
        turn = asyncio.Event()
        self.schedule(turn.set)
        await turn.wait()

    def _read_next(self) -> None:
        read = self._waiting.popleft()
        if self._waiting:
            self._loop.call_later(PAUSE_SECONDS, self._read_next)
        read()


_discards = PerLoop(DiscardPacer)


def get_discard_pacer() -> DiscardPacer:
    """The pacer of the running event loop."""
    return _discards.get()
