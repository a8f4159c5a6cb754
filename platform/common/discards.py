"""Reading what nobody keeps: the rest of bodies that are refused, one read after the other.

A client looks at a refusal when it has sent all of its body, so that has to be read. Of a hundred
such clients at the same moment each read brings up to 256 KB: without a pace the event loop would
do nothing else for a tenth of a second.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from common.perloop import PerLoop

# Between two reads, whosever body it is: 128 MB a second at most.
PAUSE_SECONDS = 0.002


class DiscardPacer:
    """Paces the reads of one event loop that discard what they bring."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Callable[[], object]] = deque()

    def schedule(self, read: Callable[[], object]) -> None:
        """Let `read` read on when it is its turn."""
        if not self._waiting:
            self._loop.call_later(PAUSE_SECONDS, self._read_next)
        self._waiting.append(read)

    async def wait_turn(self) -> None:
        """Wait until one may read on."""
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
