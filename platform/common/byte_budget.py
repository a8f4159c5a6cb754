"""Bounds the memory that large requests take together on an event loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class ByteBudget:
    """So many bytes, for an event loop. Who asks first is served first, so that many small takers
    do not keep a large one waiting."""

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
