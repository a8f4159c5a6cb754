"""Notices that this worker takes no messages although some wait for it.

After its broker was away, a Celery worker may be connected again and consume nothing (celery issues
8030, 10302). Its process looks healthy; only the waiting messages show it.
"""

import asyncio
import time
from collections.abc import Sequence

import structlog
from celery.worker import state
from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
REDIS_TIMEOUT = 1.0


async def until_stalled(queues: Sequence[str]) -> None:
    """Return when messages have waited for CONSUMER_STALL_SECONDS, and this worker did nothing and
    took none."""
    async with Redis.from_url(
        settings.REDIS_URL, socket_timeout=REDIS_TIMEOUT, socket_connect_timeout=REDIS_TIMEOUT
    ) as redis:
        last_count, last_change = _tasks_begun(), time.monotonic()
        while time.monotonic() - last_change < settings.CONSUMER_STALL_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)
            is_well = state.active_requests or _tasks_begun() != last_count
            if is_well or not await _messages_wait(redis, queues):
                last_count, last_change = _tasks_begun(), time.monotonic()


async def _messages_wait(redis: Redis, queues: Sequence[str]) -> bool:
    """Do messages wait? False while Redis is away."""
    try:
        async with redis.pipeline(transaction=False) as pipeline:
            for queue in queues:
                pipeline.llen(queue)
            return any(await pipeline.execute())
    except (RedisError, OSError, TimeoutError):
        return False


def _tasks_begun() -> int:
    count: int = state.all_total_count[0]
    return count
