"""Bounds the memory that requests take together: more is refused, or waits."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager

from common.errors import ServiceUnavailable


class MemoryBudget:
    """A number of bytes for all users of one process together. Who asks for more than the rest is
    refused."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._reserved: Counter[str] = Counter()

    @contextmanager
    def share(self, owner: str = "", most: int | None = None) -> Iterator["Share"]:
        """A share that grows as needed, and is released at the end of the block. All shares of
        one owner together hold at most `most` bytes."""
        share = Share(self, owner, most)
        try:
            yield share
        finally:
            self.release(owner, share.reserved)

    def reserve(self, owner: str, size: int, most: int | None) -> None:
        """Raises ServiceUnavailable where the amount exceeds the rest of the budget, or the owner's
        limit."""
        reserved = self._reserved[owner] + size
        if size > self._left or (most is not None and reserved > most):
            raise ServiceUnavailable
        self._left -= size
        self._reserved[owner] = reserved

    def release(self, owner: str, size: int) -> None:
        self._left += size
        self._reserved[owner] -= size
        if not self._reserved[owner]:
            del self._reserved[owner]


class Share:
    """The part of a budget that one request uses."""

    __slots__ = ("_budget", "_most", "owner", "reserved")

    def __init__(self, budget: MemoryBudget, owner: str, most: int | None) -> None:
        self._budget = budget
        self.owner = owner
        self._most = most
        self.reserved = 0

    def reserve(self, size: int) -> None:
        """Reserve this many more bytes. Raises ServiceUnavailable where they are not available."""
        self._budget.reserve(self.owner, size, self._most)
        self.reserved += size


class WaitingMemoryBudget:
    """A number of bytes for all users of one event loop. Who asks for more than the rest waits. Who
    asks first is served first, so that many small takers do not keep a large one waiting."""

    def __init__(self, total: int) -> None:
        self._total = self._free = total
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def take(self, size: int, *, seconds: float) -> AsyncGenerator[None, None]:
        """Hold `size` bytes of the budget within the context; more than the whole budget counts as
        the whole. Raises TimeoutError where they are not free in so many `seconds`."""
        size = min(size, self._total)
        async with asyncio.timeout(seconds):
            await self._take(size)
        try:
            yield
        finally:
            self._free += size
            self._freed.set()

    async def _take(self, size: int) -> None:
        async with self._turn:
            while self._free < size:
                self._freed.clear()
                await self._freed.wait()
            self._free -= size
