"""The doorbell: who follows a stream is told, through Redis, that there is something to read.

It carries no event, only the ids of streams. A ring that is lost costs its listeners the seconds
until they look again. Whoever rings never waits longer than about a tenth of a second, and gets no
error; after a failure Redis is left alone for a moment.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from functools import cache
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from common.batching import Batcher
from common.perloop import PerLoop

log = structlog.get_logger(__name__)

CHANNEL = "events"
TIMEOUT = 0.1
PAUSE = 1.0
# After so many seconds without a word the listener asks whether Redis is still there.
SILENCE = 5.0

_AWAY = (RedisError, OSError, TimeoutError)


class _Circuit:
    """Open for a moment after each failure, so that an outage costs one caller the timeout."""

    def __init__(self) -> None:
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self._open_until

    def failed(self, error: Exception) -> None:
        self._open_until = time.monotonic() + PAUSE
        log.warning("doorbell.redis_away", error=type(error).__name__)


_circuit = _Circuit()


def ring(stream_id: UUID) -> None:
    """Tell all processes that the stream has grown; from threads."""
    if _circuit.is_open:
        return
    try:
        _redis(settings.REDIS_URL).publish(CHANNEL, stream_id.bytes)
    except _AWAY as error:
        _circuit.failed(error)


async def aring(stream_ids: Iterable[UUID]) -> None:
    """Tell all processes that these streams have grown; from an event loop."""
    await _ringers.get().ring(frozenset(stream_ids))


async def close() -> None:
    """Close the connection that the running loop rings with; the next ring opens another."""
    await _ringers.get().close()


async def rings() -> AsyncGenerator[set[UUID], None]:
    """The streams that were rung for, and an empty set whenever listening has begun: what rang
    before was not heard. Goes on for ever; while Redis is away it tries again and again."""
    async with AsyncRedis.from_url(
        settings.REDIS_URL,
        socket_timeout=SILENCE,
        socket_connect_timeout=SILENCE,
        # A connection that is made again unnoticed would hide that rings were lost.
        retry=AsyncRetry(NoBackoff(), 0),
    ) as redis:
        while True:
            with suppress(*_AWAY):
                async with redis.pubsub() as pubsub:
                    await pubsub.subscribe(CHANNEL)
                    while message := await _next_message(pubsub):
                        if message["type"] == "subscribe":
                            yield set()
                        elif message["type"] == "message":
                            yield _stream_ids(message["data"])
            await asyncio.sleep(PAUSE)


async def _next_message(pubsub: PubSub) -> dict[str, Any] | None:
    """None where Redis says nothing, not even when it is asked."""
    message: dict[str, Any] | None = await pubsub.get_message(timeout=SILENCE)
    if message is None:
        await pubsub.ping()
        message = await pubsub.get_message(timeout=SILENCE)
    return message


def _stream_ids(data: bytes) -> set[UUID]:
    return {UUID(bytes=data[start : start + 16]) for start in range(0, len(data), 16)}


@cache
def _redis(url: str) -> Redis:
    return Redis.from_url(
        url,
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry=Retry(NoBackoff(), 0),
    )


class _Ringer:
    """Rings for one event loop; what rings at the same time shares a message."""

    def __init__(self) -> None:
        self._redis = AsyncRedis.from_url(settings.REDIS_URL, retry=AsyncRetry(NoBackoff(), 0))
        self._batcher = Batcher(self._publish)

    async def ring(self, stream_ids: frozenset[UUID]) -> None:
        if stream_ids and not _circuit.is_open:
            await self._batcher.run(stream_ids)

    async def close(self) -> None:
        await self._redis.aclose()

    async def _publish(self, batch: list[frozenset[UUID]]) -> list[None]:
        done = [None] * len(batch)
        if _circuit.is_open:  # it was not when they queued up
            return done
        data = b"".join(stream_id.bytes for stream_id in frozenset[UUID]().union(*batch))
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._redis.publish(CHANNEL, data)
        except _AWAY as error:
            _circuit.failed(error)
        return done


_ringers = PerLoop(_Ringer)
