"""Places for work that costs much of the processor, shared fairly by the threads of a process."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

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
