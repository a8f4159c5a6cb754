"""Places for work that costs much, shared fairly by the threads or coroutines of a process."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager

from common.errors import ServiceUnavailable


class Places:
    """So many places: one of each owner at a time, so that nobody takes all of them. Others wait
    for at most that many seconds."""

    def __init__(self, most: int, *, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._busy: set[Hashable] = set()
        self._changed = threading.Condition()

    @contextmanager
    def acquire(self, owner: Hashable) -> Iterator[None]:
        """Hold a place during the block. Raises ServiceUnavailable where none becomes free."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(owner), self._seconds):
                raise ServiceUnavailable
            self._busy.add(owner)
        try:
            yield
        finally:
            with self._changed:
                self._busy.remove(owner)
                self._changed.notify_all()

    def _is_free(self, owner: Hashable) -> bool:
        return owner not in self._busy and len(self._busy) < self._most


class LoopPlaces:
    """So many places for the coroutines of one event loop: `each` of an owner at a time. Others
    wait for at most that many seconds; who comes first is served first."""

    def __init__(self, most: int, *, seconds: float, each: int = 1) -> None:
        self._left = most
        self._each = each
        self._seconds = seconds
        self._busy: Counter[Hashable] = Counter()
        self._waiting: dict[asyncio.Future[None], Hashable] = {}

    @asynccontextmanager
    async def acquire(self, owner: Hashable) -> AsyncGenerator[None, None]:
        """Hold a place within the context. Raises ServiceUnavailable where none becomes free."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting[turn] = owner
        self._admit()
        try:
            await self._wait_for(turn)
            yield
        finally:
            if self._waiting.pop(turn, None) is None:
                self._give_back(owner)
            self._admit()

    async def _wait_for(self, turn: "asyncio.Future[None]") -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except TimeoutError:
            raise ServiceUnavailable from None

    def _admit(self) -> None:
        """Give the free places to those who may have them."""
        for turn, owner in [*self._waiting.items()]:
            if self._left and self._busy[owner] < self._each and not turn.done():
                self._left -= 1
                self._busy[owner] += 1
                del self._waiting[turn]
                turn.set_result(None)

    def _give_back(self, owner: Hashable) -> None:
        self._left += 1
        self._busy[owner] -= 1
        self._busy += Counter()  # without those who have none any more
