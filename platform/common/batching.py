"""Doing many small things in one round trip, without making any of them wait for company.

What arrives while earlier batches are on their way goes out together as the next one, as a database
commits in groups. An idle system sends every item at once, alone.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batcher(Generic[Item, Result]):
    """Runs items through `execute` in batches of at most `size`, `parallel` batches at a time.

    `execute` gives one result per item, in order; what it raises is raised to every caller of the
    batch. Bound to the event loop that uses it.
    """

    def __init__(
        self,
        execute: Callable[[list[Item]], Awaitable[list[Result]]],
        *,
        size: int = 32,
        parallel: int = 1,
    ) -> None:
        self._execute = execute
        self._size = size
        self._free = parallel
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, item: Item) -> Result:
        """The result of `item`, in whichever batch it goes."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, result))
        # Not at once: whatever else is ready in this turn of the loop shall go with it.
        loop.call_soon(self._start)
        return await result

    def _start(self) -> None:
        while self._waiting and self._free:
            self._free -= 1
            count = min(self._size, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(count)]
            task = asyncio.get_running_loop().create_task(self._run_batch(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run_batch(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._execute([item for item, _ in batch])
            for (_, waiter), result in zip(batch, results, strict=True):
                if not waiter.done():
                    waiter.set_result(result)
        except Exception as error:
            for _, waiter in batch:
                if not waiter.done():
                    waiter.set_exception(error)
        finally:
            self._free += 1
            self._start()
