"""Objects of which each event loop has one: pools and clients that loops cannot share.

A server has one loop for its life; tests and workers have several.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class LoopLocal(Generic[T]):
    """Creates a T for each event loop that asks for one; those of closed loops are dropped."""

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._kept: dict[asyncio.AbstractEventLoop, T] = {}

    def all(self) -> list[T]:
        """The objects of all loops, for other threads to look at."""
        return list(self._kept.values())

    def get(self) -> T:
        """The running loop's object."""
        loop = asyncio.get_running_loop()
        item = self._kept.get(loop)
        if item is None:
            self._kept = {known: its for known, its in self._kept.items() if not known.is_closed()}
            item = self._kept[loop] = self._factory()
        return item

    def pop(self) -> T | None:
        """The running loop's object, which is forgotten; None where it has asked for none."""
        return self._kept.pop(asyncio.get_running_loop(), None)
