"""Turns for hashing passwords, which takes all cores for a tenth of a second: who has neither
failed nor sent more goes first.

Each attempt has a load: how many of its address wait, and how many of it have lately failed. The
next turn goes to the attempt with the least load, so that one from an address that sends nothing
else goes before those of any number of addresses that guess. Attempts at one account count together
too, whatever their addresses. A client that the account knows counts for itself alone, and less.

There are two lanes, each with its own turns. Attempts with next to no load are in the first; those
of guessers are in the last, whose hashes have the lowest priority. So an honest sign-in waits for
no guess that is being hashed.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count

from common.errors import DomainError, ServiceUnavailable, TooManyRequests

# Seconds that an attempt counts: at least this long, and at most twice that.
COUNTED_SECONDS = 60.0
# What an attempt that waits, or that was wrong, adds to the load; one that was right adds 1.
WRONG = 100
# Above it an attempt is in the last lane.
MAX_LOAD_OF_FIRST = 2 * WRONG - 1
# Waiting attempts: of one address, and in all.
MAX_OF_ADDRESS = 20
MAX_WAITING = 200
# Names whose attempts are counted. More are forgotten sooner.
MAX_NAMES = 20_000
RETRY_SECONDS = 5

Name = tuple[str, str]


class Lane(StrEnum):
    """The hashes of the last lane have the lowest priority."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that has a password hashed: from this client address, for this account (empty where
    it names none). `is_known`: the account knows the client."""

    address: str
    account: str = ""
    is_known: bool = False

    @property
    def names(self) -> Iterator[Name]:
        """What it counts for."""
        yield self.pair
        if not self.is_known:
            yield ("", self.address)
            if self.account:
                yield (self.account, "")

    @property
    def pair(self) -> Name:
        return (self.account, self.address)


@dataclass(eq=False, slots=True)
class _Waiting:
    attempt: Attempt
    arrival: int
    turn: asyncio.Future[Lane] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class HashTurns:
    """So many turns at a time in each lane. A turn costs O(n) of those that wait, of whom there are
    at most MAX_WAITING."""

    def __init__(self, turns: int) -> None:
        self._free = dict.fromkeys(Lane, turns)
        self._arrivals = count()
        self._waiting: dict[int, _Waiting] = {}
        # By name: how many wait, and the load of those that are done.
        self._lines: Counter[Name] = Counter()
        self._now: Counter[Name] = Counter()
        self._before: Counter[Name] = Counter()
        self._counted_since = 0.0

    @property
    def length(self) -> int:
        """The number of waiting attempts."""
        return len(self._waiting)

    async def acquire(self, attempt: Attempt) -> Lane:
        """Wait for a turn; `release` ends it.

        Raises TooManyRequests where too many of the address wait. Where too many wait in all, the
        one with the greatest load is refused: with TooManyRequests, or with ServiceUnavailable
        where its address has sent no other.
        """
        self._forget_old_attempts()
        of_address = sum(each.attempt.address == attempt.address for each in self._in_line())
        if of_address >= MAX_OF_ADDRESS:
            raise TooManyRequests(retry_after=RETRY_SECONDS)
        waiting = _Waiting(attempt, next(self._arrivals))
        self._waiting[waiting.arrival] = waiting
        self._lines.update(attempt.names)
        self._begin_next()
        if self.length > MAX_WAITING:
            self._refuse_one()
        try:
            return await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.cancelled():
                self._leave(waiting)
            elif not waiting.turn.exception():  # the turn was granted at the same moment
                self.release(attempt, waiting.turn.result(), was_right=None)
            raise

    def release(self, attempt: Attempt, lane: Lane, *, was_right: bool | None) -> None:
        """End a turn: the next begins. `was_right` is None where nothing is known of the
        password."""
        self._forget_old_attempts()
        self._free[lane] += 1
        if was_right is not None:
            for name in attempt.names:
                self._now[name] += 1 if was_right else WRONG
        self._begin_next()

    def _begin_next(self) -> None:
        for lane in Lane:
            while self._free[lane] and (first := self._first_of(lane)):
                self._leave(first)
                self._free[lane] -= 1
                first.turn.set_result(lane)

    def _first_of(self, lane: Lane) -> _Waiting | None:
        return min(
            (each for each in self._in_line() if self._lane_of(each.attempt) is lane),
            key=self._rank,
            default=None,
        )

    def _refuse_one(self) -> None:
        worst = max(self._in_line(), key=self._rank)
        self._leave(worst)
        is_alone = self._load(worst.attempt) <= WRONG
        refusal: type[DomainError] = ServiceUnavailable if is_alone else TooManyRequests
        worst.turn.set_exception(refusal(retry_after=RETRY_SECONDS))

    def _in_line(self) -> Iterator[_Waiting]:
        return (each for each in self._waiting.values() if not each.turn.cancelled())

    def _leave(self, waiting: _Waiting) -> None:
        if self._waiting.pop(waiting.arrival, None):
            self._lines.subtract(waiting.attempt.names)
            for name in waiting.attempt.names:
                if not self._lines[name]:
                    del self._lines[name]

    def _rank(self, waiting: _Waiting) -> tuple[int, int, int]:
        """The least is the first. Of one address, its accounts take turns."""
        attempt = waiting.attempt
        return self._load(attempt), self._load_of(attempt.pair), waiting.arrival

    def _lane_of(self, attempt: Attempt) -> Lane:
        return Lane.FIRST if self._load(attempt) <= MAX_LOAD_OF_FIRST else Lane.LAST

    def _load(self, attempt: Attempt) -> int:
        """Of an attempt that waits, or has just waited."""
        load = max(self._load_of(name) for name in attempt.names)
        return load - WRONG if attempt.is_known else load

    def _load_of(self, name: Name) -> int:
        return WRONG * self._lines[name] + self._now[name] + self._before[name]

    def _forget_old_attempts(self) -> None:
        now = asyncio.get_running_loop().time()
        age = now - self._counted_since
        if age > COUNTED_SECONDS or len(self._now) > MAX_NAMES:
            self._before = Counter() if age > 2 * COUNTED_SECONDS else self._now
            self._now, self._counted_since = Counter(), now
