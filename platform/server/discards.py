"""Reads and discards the rest of refused bodies, one read after the other. The senders take turns.

A client reads a refusal when it has sent all of its body, so the body has to be read. Each read of
a hundred such clients brings up to 256 KB: without a pace the event loop would do nothing else for
a tenth of a second, and without turns the body of one client would wait for those of a crowd.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from common.loop_local import LoopLocal

# Seconds between two reads, of all bodies together: 25 MB a second at most. A read takes up to half
# a millisecond, most of it in the system.
PAUSE_SECONDS = 0.01


class DiscardPacer:
    """Paces the discarding reads of one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        # The waiting reads of each sender; the sender whose turn is next comes first.
        self._waiting: dict[str, deque[Callable[[], object]]] = {}

    def schedule_read(self, sender: str, read: Callable[[], object]) -> None:
        """Call `read` when the turn of `sender` comes."""
        if not self._waiting:
            self._loop.call_later(PAUSE_SECONDS, self._read_next)
        self._waiting.setdefault(sender, deque()).append(read)

    async def wait_for_turn(self, sender: str) -> None:
        """Return when it is the turn of `sender`."""
        turn = asyncio.Event()
        self.schedule_read(sender, turn.set)
        await turn.wait()

    def _read_next(self) -> None:
        sender = next(iter(self._waiting))
        reads = self._waiting.pop(sender)
        read = reads.popleft()
        if reads:
            self._waiting[sender] = reads
        if self._waiting:
            self._loop.call_later(PAUSE_SECONDS, self._read_next)
        read()


_discards = LoopLocal(DiscardPacer)


def get_discard_pacer() -> DiscardPacer:
    """The pacer of the running event loop."""
    return _discards.get()
