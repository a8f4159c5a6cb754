"""Small tables in memory: one snapshot per process, at most a few seconds old.

A lookup costs no query. A stale snapshot is served while one thread fetches the next, and for as
long as the database is away.
"""

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError, connection

from common.errors import ServiceUnavailable

MAX_AGE = 5.0  # seconds

T = TypeVar("T")


class Snapshot(Generic[T]):
    """What `load` reads. Both ways to it raise ServiceUnavailable where the database is away and
    was never reached before."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._value: T | None = None
        self._sought_at = 0.0  # the last attempt to refresh

    def get(self) -> T:
        """The value, for synchronous code."""
        if not self._is_fresh() and self._lock.acquire(blocking=self._value is None):
            try:
                if not self._is_fresh():
                    self._refresh()
            finally:
                self._lock.release()
        return self._loaded()

    async def aget(self) -> T:
        """The value, for code on an event loop. The loop is never blocked; only the very first
        caller waits, for a thread."""
        if self._value is None:
            return await asyncio.to_thread(self._get_in_thread)
        if not self._is_fresh() and self._lock.acquire(blocking=False):
            asyncio.get_running_loop().run_in_executor(None, self._refresh_in_thread)
        return self._loaded()

    def reset(self) -> None:
        """Forget the value. For tests, whose database changes under it."""
        self._value = None

    def _is_fresh(self) -> bool:
        return self._value is not None and monotonic() - self._sought_at < MAX_AGE

    def _refresh(self) -> None:
        """Fetch the next value, or keep this one while the database is away.

        The caller holds the lock.
        """
        try:
            self._value = self._load()
        except (OperationalError, InterfaceError):
            if self._value is None:
                raise ServiceUnavailable from None
        self._sought_at = monotonic()

    def _loaded(self) -> T:
        if self._value is None:
            raise ServiceUnavailable
        return self._value

    def _get_in_thread(self) -> T:
        """`get`, leaving no database connection behind in a thread that Django never sees."""
        try:
            return self.get()
        finally:
            connection.close()

    def _refresh_in_thread(self) -> None:
        """The second half of `aget`, which took the lock."""
        try:
            self._refresh()
        finally:
            self._lock.release()
            connection.close()
