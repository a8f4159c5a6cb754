"""The limiter of one event loop, and when it takes Redis to be away."""

import asyncio
import time
from collections.abc import Callable

from common.ids import uuid7
from common.ratelimit import REDIS_TIMEOUT, Limit, RateLimiter

LIMIT = Limit(requests=2, window=60)


async def test_a_pause_of_its_own_is_not_taken_for_one_of_redis() -> None:
    """Wherever the request is by then: the loop stands still a turn later each time."""
    limiter, name = RateLimiter(), uuid7().hex
    verdicts = []
    for turns in range(10):
        _after(turns, _stand_still)
        verdicts.append(await limiter.check(name, LIMIT))
    await limiter.close()
    assert [verdict.allowed for verdict in verdicts] == [True, True] + [False] * 8


def _after(turns: int, act: Callable[[], None]) -> None:
    """Do that in the loop, so many turns from now."""
    loop = asyncio.get_running_loop()
    loop.call_soon(act if turns == 0 else lambda: _after(turns - 1, act))


def _stand_still() -> None:
    time.sleep(REDIS_TIMEOUT + 0.05)
