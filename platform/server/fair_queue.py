"""A queue that is fair to its names: more requests of one name do not get it served sooner."""

import asyncio
from collections import Counter, OrderedDict
from heapq import heappop, heappush
from itertools import count

# Seconds that a turn counts as recent: at least this long, and at most twice that.
COUNTED_SECONDS = 30.0

_Turn = asyncio.Future[None]


class FairQueue:
    """Grants a number of turns at a time, of which `each` for one name. The next turn goes to the
    name with the fewest recent turns; ties go to the earliest. A turn costs O(log n) of the names
    that wait."""

    def __init__(self, turns: int, *, each: int | None = None) -> None:
        self._free = turns
        self._each = each or turns
        # The number of waiting requests, in all.
        self.length = 0
        self._arrivals = count()
        # The number of turns that each name has now.
        self._having: Counter[str] = Counter()
        # The waiting requests of each name, by the number of the arrival.
        self._lines: dict[str, OrderedDict[int, _Turn]] = {}
        # For each name that may have another turn: its recent turns, the arrival of its first
        # request, the name. The first request may have left since: the entry is then too early, and
        # is replaced when it comes up.
        self._heap: list[tuple[int, int, str]] = []
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._counted_since = 0.0

    def waiting(self, name: str) -> int:
        """The number of waiting requests of that name."""
        return len(self._lines.get(name, ()))

    async def acquire(self, name: str) -> None:
        """Wait for a turn; `release` ends it."""
        self._forget_old_turns()
        if self._free and self._may_have_one_more(name):
            self._begin(name)
            return
        arrival, turn = next(self._arrivals), asyncio.get_running_loop().create_future()
        is_first = name not in self._lines
        self._lines.setdefault(name, OrderedDict())[arrival] = turn
        self.length += 1
        if is_first:
            self._line_up(name)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(name, arrival)
            else:  # the turn was granted at the same moment
                self.release(name)
            raise

    def release(self, name: str) -> None:
        """End a turn of that name: the next begins."""
        self._forget_old_turns()
        self._free += 1
        is_back = name in self._lines and not self._may_have_one_more(name)
        self._having[name] -= 1
        if not self._having[name]:
            del self._having[name]
        if is_back:
            self._line_up(name)
        if turn := self._next():
            turn.set_result(None)

    def _next(self) -> _Turn | None:
        while self._heap:
            _, arrival, name = heappop(self._heap)
            turn = self._leave(name, arrival)
            is_waiting = turn is not None and not turn.cancelled()
            if is_waiting:
                self._begin(name)
            self._line_up(name)
            if is_waiting:
                return turn
        return None

    def _may_have_one_more(self, name: str) -> bool:
        return self._having[name] < self._each

    def _begin(self, name: str) -> None:
        self._free -= 1
        self._having[name] += 1
        self._now[name] += 1

    def _line_up(self, name: str) -> None:
        """Enter a name's line in the heap, unless the line is empty or the name has all of its
        turns."""
        line = self._lines[name]
        if not line:
            del self._lines[name]
        elif self._may_have_one_more(name):
            heappush(self._heap, (self._had(name), next(iter(line)), name))

    def _leave(self, name: str, arrival: int) -> _Turn | None:
        """Remove a request from its line. An empty line is kept until it is entered again."""
        turn = self._lines[name].pop(arrival, None) if name in self._lines else None
        self.length -= turn is not None
        return turn

    def _had(self, name: str) -> int:
        return self._now[name] + self._before[name]

    def _forget_old_turns(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._counted_since <= COUNTED_SECONDS:
            return
        is_older = now - self._counted_since > 2 * COUNTED_SECONDS
        self._before = Counter() if is_older else self._now
        self._now, self._counted_since = Counter(), now
        self._heap.clear()
        for name in [*self._lines]:
            self._line_up(name)
