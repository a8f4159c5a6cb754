"""A queue in which nobody gets ahead by asking more often."""

import asyncio
from collections import Counter
from dataclasses import dataclass

# How long a turn counts: for so long and up to twice that.
COUNTED_SECONDS = 30.0


@dataclass(slots=True, eq=False)
class _Waiting:
    name: str
    turn: asyncio.Future[None]


class FairQueue:
    """So many turns at a time. The next one is of the name that has had the fewest of late; among
    equals, of who came first."""

    def __init__(self, turns: int) -> None:
        self._free = turns
        self._waiting: list[_Waiting] = []
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._counted_since = 0.0

    def waiting(self, name: str) -> int:
        """How many of that name wait."""
        return sum(each.name == name and not each.turn.done() for each in self._waiting)

    async def take(self, name: str) -> None:
        """Wait for a turn, which `give_back` ends."""
        if self._free:
            self._free -= 1
            self._count(name)
            return
        waiting = _Waiting(name, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if not waiting.turn.cancelled():  # it was given at the same moment
                self.give_back()
            raise

    def give_back(self) -> None:
        """End a turn: the next begins."""
        self._waiting = [each for each in self._waiting if not each.turn.done()]
        if not self._waiting:
            self._free += 1
            return
        following = min(self._waiting, key=self._had)
        self._waiting.remove(following)
        self._count(following.name)
        following.turn.set_result(None)

    def _had(self, waiting: _Waiting) -> int:
        return self._now[waiting.name] + self._before[waiting.name]

    def _count(self, name: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._counted_since > COUNTED_SECONDS:
            is_older = now - self._counted_since > 2 * COUNTED_SECONDS
            self._before = Counter() if is_older else self._now
            self._now, self._counted_since = Counter(), now
        self._now[name] += 1
