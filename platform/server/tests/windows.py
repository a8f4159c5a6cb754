"""The windows in which the running service counts requests, filled and moved from outside."""

import asyncio
import time

import msgspec
from django.conf import settings
from redis import Redis

from server.rate_limit import Limit, RateLimiter


def use_up(name: str, limit: Limit, *, but: int = 0) -> None:
    """Make as many requests of `name` as the limit allows, `but` so many, without the service."""

    async def requests() -> None:
        limiter = RateLimiter()
        await asyncio.gather(*(limiter.check(name, limit) for _ in range(limit.requests - but)))
        await limiter.close()

    asyncio.run(requests())


_LET_PASS = """
local slots = cmsgpack.unpack(redis.call('GET', KEYS[1]))
for i = 1, #slots, 2 do slots[i] = slots[i] - ARGV[1] end
redis.call('SET', KEYS[1], cmsgpack.pack(slots), 'PX', ARGV[2])
"""
_COUNT = """
local stored, count = redis.call('GET', KEYS[1]), 0
local slots = stored and cmsgpack.unpack(stored) or {}
for i = 2, #slots, 2 do count = count + slots[i] end
return count
"""


def let_pass(name: str, limit: Limit, seconds: float) -> None:
    """Let the requests of `name` so far lie so many seconds further back."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        passed, kept = int(seconds * 1_000_000), limit.window * 1000
        redis.eval(_LET_PASS, 1, f"limit:{name}", passed, kept)


def fill(redis_url: str, name: str, limit: Limit) -> None:
    """Count as many requests of `name` as the limit allows, in Redis alone."""
    slots = msgspec.msgpack.encode([int(time.time() * 1_000_000), limit.requests])
    with Redis.from_url(redis_url) as redis:
        redis.set(f"limit:{name}", slots, ex=limit.window)


def counted(redis_url: str, name: str) -> int:
    """The requests of `name` that were accepted."""
    with Redis.from_url(redis_url) as redis:
        return int(redis.eval(_COUNT, 1, f"limit:{name}"))
