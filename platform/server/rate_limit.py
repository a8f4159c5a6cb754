"""Sliding-window rate limits, counted in Redis; requests at the same time share a call.

"120 per minute" holds in any 60 seconds: docs/decisions/0045. A refused request takes nothing.
Redis only counts: while it is away each process counts for itself, which refuses nobody but where a
limit says so, and nobody waits for it longer than a tenth of a second. Where a limit says so each
process counts all the time.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import structlog
from django.conf import settings
from msgspec import Struct
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from common.batching import Batcher
from common.loop_local import LoopLocal
from server.metrics import limit_refusals

T = TypeVar("T")

log = structlog.get_logger(__name__)

REDIS_TIMEOUT = 0.1
# It is waited for in so many pieces. A process that is kept from going on for long, by its machine
# or by its own work, loses one of them: that is not Redis being away.
REDIS_LOOKS = 5
# After a failure Redis is left alone this long, so that an outage costs one request the timeout.
REDIS_PAUSE = 1.0
# How many names a process counts for itself, and of how many it remembers that they are refused;
# those that asked last.
LOCAL_NAMES = 1_000
# Who is refused so often, never ten seconds apart, does not look at the answers.
MANY_REFUSALS = 200
FORGOTTEN_AFTER = 10.0

# A window is divided into this many slots. The requests of one slot count as long as the last of
# them, so that a window takes less than a kilobyte, however much its limit is.
SLOTS = 60

# KEYS: the windows; ARGV: limit and window in microseconds for each.
# Returns for each {accepted, remaining, microseconds until more is accepted}.
#
# A window is stored as a flat array, the oldest slot first: the time of a slot's last request in
# microseconds, and the number of its requests.
SLIDING_WINDOW = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

local function count_request(key, limit, window)
  local stored = redis.call('GET', key)
  local slots, count = {}, 0
  local before = stored and cmsgpack.unpack(stored) or {}
  for i = 1, #before, 2 do
    if now - before[i] < window then
      slots[#slots + 1] = before[i]
      slots[#slots + 1] = before[i + 1]
      count = count + before[i + 1]
    end
  end
  if count >= limit then return {0, 0, slots[1] + window - now} end
  local length = window / SLOTS
  if #slots > 0 and math.floor(slots[#slots - 1] / length) == math.floor(now / length) then
    slots[#slots - 1] = now
    slots[#slots] = slots[#slots] + 1
  else
    slots[#slots + 1] = now
    slots[#slots + 1] = 1
  end
  redis.call('SET', key, cmsgpack.pack(slots), 'PX', math.ceil(window / 1000))
  return {1, limit - count - 1, 0}
end

local verdicts = {}
for i, key in ipairs(KEYS) do
  verdicts[i] = count_request(key, tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i]))
end
return verdicts
""".replace("SLOTS", str(SLOTS))


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `requests` in any `window` seconds; `without_redis`: by each process alone, too."""

    requests: int
    window: int
    without_redis: bool = False


class Verdict(Struct, frozen=True):
    """`retry_after` is whole seconds, at least 1 where the request is refused; `is_insistent`:
    this process has refused the name `MANY_REFUSALS` times, one shortly after the other."""

    allowed: bool
    remaining: int
    retry_after: int = 0
    is_insistent: bool = False


class RateLimiter:
    """The limiter of one event loop."""

    def __init__(self) -> None:
        # One connection is enough: the batcher asks once at a time, and waits only for so long.
        self._redis = Redis.from_url(
            settings.REDIS_URL,
            single_connection_client=True,
            socket_timeout=None,
            socket_connect_timeout=None,
            retry=Retry(NoBackoff(), 0),
        )
        self._script = self._redis.register_script(SLIDING_WINDOW)
        self._batcher = Batcher(self._count, name="limits")
        self._paused_until = 0.0
        self._local = LocalWindows()
        self._refused = RefusedNames()

    async def check(self, name: str, limit: Limit) -> Verdict:
        """Count a request of `name`. While Redis is away `remaining` is what this process alone has
        seen, and everything is allowed unless the limit holds without Redis."""
        if limit.without_redis:
            verdict = await self._check_twice(name, limit)
        else:
            shared = await self._ask_redis(name, limit)
            verdict = shared or Verdict(True, self._local.count(name, limit).remaining)
        if verdict.allowed:
            return verdict
        limit_refusals.labels(name.partition(":")[0]).inc()
        return self._refused.counted(name, verdict)

    def refused_for(self, name: str) -> int:
        """The seconds for which `check` is certain to refuse a name, as far as this process knows
        without asking; 0 if it does not know."""
        return self._refused.wait(name)

    async def _check_twice(self, name: str, limit: Limit) -> Verdict:
        """Refused if either Redis or this process says no, so that nobody has a second quota when
        Redis goes away or comes back empty."""
        if seconds := self._local.wait(name, limit):
            return Verdict(False, 0, seconds)
        shared = await self._ask_redis(name, limit)
        if shared and not shared.allowed:
            return shared
        own = self._local.count(name, limit)
        return shared if shared and own.allowed else own

    async def _ask_redis(self, name: str, limit: Limit) -> Verdict | None:
        """None while Redis is away."""
        if seconds := self.refused_for(name):
            return Verdict(False, 0, seconds)
        if time.monotonic() < self._paused_until:
            return None
        return await self._batcher.run((name, limit))

    async def _count(self, requests: list[tuple[str, Limit]]) -> list[Verdict | None]:
        """A verdict for each request; None while Redis is away."""
        keys = [f"limit:{name}" for name, _ in requests]
        arguments: list[int] = []
        for _, limit in requests:
            arguments += (limit.requests, limit.window * 1_000_000)
        if time.monotonic() < self._paused_until:  # it was not when they queued up
            return [None] * len(requests)
        try:
            answers = await _in_time(self._script(keys=keys, args=arguments))
        except (RedisError, OSError, TimeoutError) as error:
            self._paused_until = time.monotonic() + REDIS_PAUSE
            log.warning("ratelimit.redis_away", error=type(error).__name__)
            return [None] * len(requests)
        for (name, _), (accepted, _, wait) in zip(requests, answers, strict=True):
            if not accepted:
                self._refused.note(name, wait / 1_000_000)
        return [
            Verdict(bool(accepted), remaining, math.ceil(wait / 1_000_000))
            for accepted, remaining, wait in answers
        ]

    async def close(self) -> None:
        await self._redis.aclose(close_connection_pool=True)


async def _in_time(asking: Awaitable[T]) -> T:
    """What Redis answers. Raises TimeoutError where it does not."""
    answer = asyncio.ensure_future(asking)
    try:
        for _ in range(REDIS_LOOKS):
            await asyncio.wait({answer}, timeout=REDIS_TIMEOUT / REDIS_LOOKS)
            if answer.done():
                return answer.result()
        raise TimeoutError
    finally:
        answer.cancel()


@dataclass(slots=True)
class _Refused:
    until: float = 0.0
    last: float = 0.0
    refusals: int = 0


class RefusedNames:
    """Which names are refused, how often, and until when. A full window accepts nothing before its
    oldest slot leaves it, so that Redis is not asked about an insistent name until then."""

    def __init__(self) -> None:
        self._names: dict[str, _Refused] = {}

    def wait(self, name: str) -> int:
        """The seconds until an insistent name may be accepted; 0 if Redis is to be asked."""
        refused = self._names.get(name)
        if refused is None or refused.refusals < MANY_REFUSALS:
            return 0
        return max(0, math.ceil(refused.until - time.monotonic()))

    def note(self, name: str, seconds: float) -> None:
        """Redis accepts nothing of the name for so long."""
        self._get(name).until = time.monotonic() + seconds

    def counted(self, name: str, verdict: Verdict) -> Verdict:
        """The verdict, when it is counted as a refusal."""
        refused, now = self._get(name), time.monotonic()
        refused.refusals = refused.refusals + 1 if now - refused.last < FORGOTTEN_AFTER else 1
        refused.last = now
        is_insistent = refused.refusals >= MANY_REFUSALS
        return Verdict(False, verdict.remaining, verdict.retry_after, is_insistent)

    def _get(self, name: str) -> _Refused:
        refused = self._names.setdefault(name, _Refused())
        if len(self._names) > LOCAL_NAMES:
            del self._names[next(iter(self._names))]
        return refused


class Window:
    """The requests of one name that were accepted, as SLIDING_WINDOW counts them."""

    def __init__(self) -> None:
        # Of each slot the time of its last request, and their number; the oldest first.
        self._slots: deque[tuple[float, int]] = deque()

    def count(self, limit: Limit, now: float) -> Verdict:
        """Count a request at `now`, in seconds."""
        if seconds := self.wait(limit, now):
            return Verdict(False, 0, math.ceil(seconds))
        length = limit.window / SLOTS
        requests = 1
        if self._slots and self._slots[-1][0] // length == now // length:
            requests += self._slots.pop()[1]
        self._slots.append((now, requests))
        return Verdict(True, limit.requests - self._requests)

    def wait(self, limit: Limit, now: float) -> float:
        """The seconds until more is accepted; 0 if it is now."""
        while self._slots and now - self._slots[0][0] >= limit.window:
            self._slots.popleft()
        return self._slots[0][0] + limit.window - now if self._requests >= limit.requests else 0.0

    @property
    def _requests(self) -> int:
        return sum(requests for _, requests in self._slots)


class LocalWindows:
    """The windows of one process."""

    def __init__(self) -> None:
        # In the order in which the names asked.
        self._windows: dict[str, Window] = {}

    def count(self, name: str, limit: Limit) -> Verdict:
        """Count a request of that name."""
        return self._get(name).count(limit, time.monotonic())

    def wait(self, name: str, limit: Limit) -> int:
        """The seconds until one more is accepted; 0 if it is now."""
        return math.ceil(self._get(name).wait(limit, time.monotonic()))

    def _get(self, name: str) -> Window:
        window = self._windows.pop(name, None) or Window()
        self._windows[name] = window
        if len(self._windows) > LOCAL_NAMES:
            del self._windows[next(iter(self._windows))]
        return window


_limiters = LoopLocal(RateLimiter)


def get_rate_limiter() -> RateLimiter:
    """The running event loop's limiter."""
    return _limiters.get()
