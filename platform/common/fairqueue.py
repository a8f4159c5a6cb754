"""A queue in which nobody gets ahead by asking more often."""

import asyncio
from collections import Counter, OrderedDict
from heapq import heapify, heappop, heappush
from itertools import count

# How long a turn counts: for so long and up to twice that.
COUNTED_SECONDS = 30.0

_Turn = asyncio.Future[None]


class FairQueue:
    """So many turns at a time. The next turn goes to the name with the fewest recent turns; ties go
    to the earliest. A turn costs O(log n) of the names that wait."""

    def __init__(self, turns: int) -> None:
        self._free = turns
        # How many wait, in all.
        self.length = 0
        self._arrivals = count()
        # Who waits of each name, by the number of the arrival.
        self._lines: dict[str, OrderedDict[int, _Turn]] = {}
        # For each line: its name's recent turns, the arrival of its first, its name. The first may
        # have left since: then the entry comes too early, and is replaced when it does.
        self._heap: list[tuple[int, int, str]] = []
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._counted_since = 0.0

    def waiting(self, name: str) -> int:
        """How many of that name wait."""
        return len(self._lines.get(name, ()))

    async def take(self, name: str) -> None:
        """Wait for a turn, which `give_back` ends."""
        self._forget_old_turns()
        if self._free:
            self._free -= 1
            self._now[name] += 1
            return
        arrival, turn = next(self._arrivals), asyncio.get_running_loop().create_future()
        if name not in self._lines:
            self._lines[name] = OrderedDict()
            heappush(self._heap, (self._had(name), arrival, name))
        self._lines[name][arrival] = turn
        self.length += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(name, arrival)
            else:  # it was given at the same moment
                self.give_back()
            raise

    def give_back(self) -> None:
        """End a turn: the next begins."""
        self._forget_old_turns()
        if turn := self._next():
            turn.set_result(None)
        else:
            self._free += 1

    def _next(self) -> _Turn | None:
        while self._heap:
            _, arrival, name = heappop(self._heap)
            turn = self._leave(name, arrival)
            is_waiting = turn is not None and not turn.cancelled()
            if is_waiting:
                self._now[name] += 1
            if line := self._lines[name]:
                heappush(self._heap, (self._had(name), next(iter(line)), name))
            else:
                del self._lines[name]
            if is_waiting:
                return turn
        return None

    def _leave(self, name: str, arrival: int) -> _Turn | None:
        """Take one out of its line, where it is. An empty line stays until `_next` finds it."""
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
        self._lines = {name: line for name, line in self._lines.items() if line}
        self._heap = [(self._had(n), next(iter(line)), n) for n, line in self._lines.items()]
        heapify(self._heap)
