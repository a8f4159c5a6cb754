"""The windows in which the running service counts requests, filled and moved from outside."""

import asyncio

from django.conf import settings
from redis import Redis

from edge.rate_limit import Limit, RateLimiter


def use_up(name: str, limit: Limit, *, but: int = 0) -> None:
    """Make as many requests of `name` as the limit allows, `but` so many, without the service."""

    async def requests() -> None:
        limiter = RateLimiter()
        await asyncio.gather(*(limiter.check(name, limit) for _ in range(limit.requests - but)))
        await limiter.close()

    asyncio.run(requests())


def let_pass(name: str, limit: Limit, seconds: float) -> None:
    """Let the requests of `name` so far lie so many seconds further back."""
    key = f"limit:{name}"
    with Redis.from_url(settings.REDIS_URL) as redis:
        times = [int(time) - int(seconds * 1_000_000) for time in redis.lrange(key, 0, -1)]
        redis.delete(key)
        redis.rpush(key, *times)
        redis.pexpire(key, limit.window * 1000)
