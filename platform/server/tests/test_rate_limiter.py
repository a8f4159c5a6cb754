"""The limiter of one event loop, and when it takes Redis to be away."""

import asyncio
import time
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from common.ids import uuid7
from server.rate_limit import MANY_REFUSALS, REDIS_TIMEOUT, Limit, RateLimiter

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


async def test_redis_is_not_asked_about_an_insistent_name_until_it_may_be_accepted() -> None:
    limiter, limit, name = RateLimiter(), Limit(requests=1, window=1), uuid7().hex
    verdicts = [await limiter.check(name, limit) for _ in range(1 + MANY_REFUSALS)]
    assert [verdict.is_insistent for verdict in verdicts[-2:]] == [False, True]
    await limiter.close()
    limiter._redis = Redis(port=1)  # where nobody is
    assert await limiter.check(name, limit) == verdicts[-1]
    assert limiter.refused_for(name) == 1
    await asyncio.sleep(1)
    assert limiter.refused_for(name) == 0


async def test_names_that_keep_away_are_insistent_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    limiter, name = RateLimiter(), uuid7().hex
    for _ in range(2 + MANY_REFUSALS):
        verdict = await limiter.check(name, LIMIT)
    assert verdict.is_insistent
    monkeypatch.setattr("server.rate_limit.FORGOTTEN_AFTER", 0.0)
    assert not (await limiter.check(name, LIMIT)).is_insistent
    await limiter.close()
