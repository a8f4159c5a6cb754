"""Memory that many share: who would take more than there is gets none."""

from collections.abc import Iterator
from contextlib import contextmanager

from common.errors import ServiceUnavailable


class MemoryBudget:
    """So many bytes, for all users of one process together."""

    def __init__(self, size: int) -> None:
        self._left = size

    @contextmanager
    def share(self) -> Iterator["Share"]:
        """A share that grows as it is needed, and is given back at the end of the block."""
        share = Share(self)
        try:
            yield share
        finally:
            self._left += share.taken

    def take(self, size: int) -> None:
        """Raises ServiceUnavailable where that is more than is left."""
        if size > self._left:
            raise ServiceUnavailable
        self._left -= size


class Share:
    """What one user has taken of a budget."""

    __slots__ = ("_budget", "taken")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.taken = 0

    def take(self, size: int) -> None:
        """Take so many bytes more. Raises ServiceUnavailable where they are not there."""
        self._budget.take(size)
        self.taken += size
