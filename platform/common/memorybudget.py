"""A budget of memory that many requests share; a request for more than the rest is refused."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from common.errors import ServiceUnavailable


class MemoryBudget:
    """A number of bytes for all users of one process together."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._taken: Counter[str] = Counter()

    @contextmanager
    def share(self, owner: str = "", most: int | None = None) -> Iterator["Share"]:
        """A share that grows as needed, and is given back at the end of the block. All shares of
        one owner together hold at most `most` bytes."""
        share = Share(self, owner, most)
        try:
            yield share
        finally:
            self.give_back(owner, share.taken)

    def take(self, owner: str, size: int, most: int | None) -> None:
        """Raises ServiceUnavailable where the amount exceeds the rest of the budget, or the owner's
        limit."""
        own = self._taken[owner] + size
        if size > self._left or (most is not None and own > most):
            raise ServiceUnavailable
        self._left -= size
        self._taken[owner] = own

    def give_back(self, owner: str, size: int) -> None:
        self._left += size
        self._taken[owner] -= size
        if not self._taken[owner]:
            del self._taken[owner]


class Share:
    """The part of a budget that one request uses."""

    __slots__ = ("_budget", "_most", "_owner", "taken")

    def __init__(self, budget: MemoryBudget, owner: str, most: int | None) -> None:
        self._budget = budget
        self._owner = owner
        self._most = most
        self.taken = 0

    def take(self, size: int) -> None:
        """Take that many bytes more. Raises ServiceUnavailable where they are not available."""
        self._budget.take(self._owner, size, self._most)
        self.taken += size
