"""The window of a key's requests, as the service counts them."""

import asyncio

from django.conf import settings
from redis import Redis

from accounts.models import ApiKey
from common.ratelimit import RateLimiter
from publicapi.v1.authentication import KEY_LIMIT


def use_up(key: ApiKey) -> None:
    """Make as many requests as the key may make in a minute, without the service."""

    async def requests() -> None:
        limiter = RateLimiter()
        for _ in range(KEY_LIMIT.requests):
            await limiter.check(f"key:{key.pk}", KEY_LIMIT)
        await limiter.close()

    asyncio.run(requests())


def let_pass(key: ApiKey, seconds: float) -> None:
    """Let the requests so far lie so many seconds further back."""
    name = f"limit:key:{key.pk}"
    with Redis.from_url(settings.REDIS_URL) as redis:
        times = [int(time) - int(seconds * 1_000_000) for time in redis.lrange(name, 0, -1)]
        redis.delete(name)
        redis.rpush(name, *times)
        redis.pexpire(name, KEY_LIMIT.window * 1000)
