"""Batches concurrent small operations into one round trip, without a waiting time.

Items that arrive while a batch is running form the next batch, as in a database's group commit. An
idle system sends every item at once, alone.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from observability.metrics.instruments import histogram
from observability.metrics.labels import OTHER

Item = TypeVar("Item")
Result = TypeVar("Result")

batch_sizes = histogram(
    "platform_batch_size",
    "Items that share one round trip to a store.",
    (1, 2, 4, 8, 16, 32, 64, 100),
    batch=frozenset(
        {
            "appends",
            "clients",
            "endings",
            "frames",
            "holds",
            "keys",
            "limits",
            "openings",
            "undelivered",
        }
    ),
)


class Batcher(Generic[Item, Result]):
    """Runs items through `execute` in batches of at most `size`, one batch at a time.

    `execute` gives one result per item, in order. Its exception is raised to every caller of the
    batch and to all who wait for the next one, because the same failure would make them wait as
    long again. Bound to the event loop that uses it. `name` is that of its batches in the metrics.
    """

    def __init__(
        self,
        execute: Callable[[list[Item]], Awaitable[list[Result]]],
        *,
        size: int = 32,
        name: str = OTHER,
    ) -> None:
        self._execute = execute
        self._size = size
        self._sizes = batch_sizes.labels(name)
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def run(self, item: Item) -> Result:
        """The result of `item`."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, result))
        if self._running is None:
            # The task starts in the next pass of the loop: items that arrive in this pass join the
            # batch.
            self._running = loop.create_task(self._run_batches())
        return await result

    async def _run_batches(self) -> None:
        while self._waiting:
            count = min(self._size, len(self._waiting))
            await self._run_batch([self._waiting.popleft() for _ in range(count)])
        self._running = None

    async def _run_batch(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        self._sizes.observe(len(batch))
        try:
            results = await self._execute([item for item, _ in batch])
            for (_, waiter), result in zip(batch, results, strict=True):
                if not waiter.done():
                    waiter.set_result(result)
        except Exception as error:
            for _, waiter in [*batch, *self._waiting]:
                if not waiter.done():
                    waiter.set_exception(error)
            self._waiting.clear()
