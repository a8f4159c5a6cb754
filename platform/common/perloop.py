"""What an event loop has one of: pools and clients that cannot be shared between loops.

A server has one loop for its life; tests and workers have several.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a T for each event loop that asks for it, and forgets it together with the loop."""

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        # The same loop asks nearly always: it is recognised without a weak reference.
        self._last: tuple[asyncio.AbstractEventLoop, T] | None = None

    def get(self) -> T:
        """The running loop's own."""
        loop = asyncio.get_running_loop()
        if self._last is not None and self._last[0] is loop:
            return self._last[1]
        if loop not in self._made:
            self._made[loop] = self._factory()
        self._last = (loop, self._made[loop])
        return self._made[loop]
