"""What an event loop has one of: pools and clients that cannot be shared between loops.

A server has one loop for its life; tests and workers have several.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a T for each event loop that asks for it; those of closed loops are dropped."""

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._made: dict[asyncio.AbstractEventLoop, T] = {}

    def get(self) -> T:
        """The running loop's own."""
        loop = asyncio.get_running_loop()
        made = self._made.get(loop)
        if made is None:
            self._made = {known: its for known, its in self._made.items() if not known.is_closed()}
            made = self._made[loop] = self._factory()
        return made
