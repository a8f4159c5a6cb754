"""The doorbell: rings from threads and loops are heard, and nobody waits while Redis is away."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import Settings

from common.ids import uuid7
from events import doorbell
from tests.own_redis import OwnRedis

Rings = AsyncGenerator[set[UUID], None]
Away = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def own_redis(tmp_path: Path, settings: Settings) -> Iterator[OwnRedis]:
    """The one that the doorbell uses."""
    own = OwnRedis(tmp_path)
    settings.REDIS_URL = own.url
    yield own
    own.stop()


@pytest.fixture(params=[OwnRedis.dead, OwnRedis.frozen], ids=["dead", "frozen"])
def away(request: pytest.FixtureRequest, own_redis: OwnRedis) -> Away:
    return lambda: request.param(own_redis)


@pytest.fixture
async def listener() -> AsyncGenerator[Rings, None]:
    """Somebody who hears all that is rung for from now on."""
    rings = doorbell.rings()
    assert await anext(rings) == set()
    yield rings
    await rings.aclose()
    await doorbell.close()


async def heard(listener: Rings, count: int = 1) -> set[UUID]:
    """The next streams that are rung for, other tests' and our own."""
    streams: set[UUID] = set()
    async with asyncio.timeout(5):
        while len(streams) < count:
            streams |= await anext(listener)
    return streams


async def test_a_ring_from_a_thread_is_heard(own_redis: OwnRedis, listener: Rings) -> None:
    stream = uuid7()
    await asyncio.to_thread(doorbell.ring, stream)
    assert await heard(listener) == {stream}


async def test_rings_from_a_loop_are_heard(own_redis: OwnRedis, listener: Rings) -> None:
    streams = {uuid7() for _ in range(300)}
    await asyncio.gather(*[doorbell.aring([stream]) for stream in streams])
    assert await heard(listener, 300) == streams


async def test_several_streams_are_rung_for_at_once(own_redis: OwnRedis, listener: Rings) -> None:
    streams = {uuid7(), uuid7()}
    await doorbell.aring(streams)
    assert await anext(listener) == streams


async def test_ringing_for_nothing_is_no_ring(own_redis: OwnRedis, listener: Rings) -> None:
    stream = uuid7()
    await doorbell.aring([])
    await doorbell.aring([stream])
    assert await anext(listener) == {stream}


async def test_nobody_waits_while_redis_is_away(away: Away) -> None:
    def seconds_in_a_thread() -> float:
        began = time.monotonic()
        for _ in range(20):
            doorbell.ring(uuid7())
        return time.monotonic() - began

    with away():
        assert await asyncio.to_thread(seconds_in_a_thread) < 0.3
        await asyncio.sleep(doorbell.PAUSE)
        began = time.monotonic()
        await asyncio.gather(*[doorbell.aring([uuid7()]) for _ in range(200)])
        assert time.monotonic() - began < 0.3
    await doorbell.close()


async def test_rings_are_heard_again_when_redis_is_back(
    own_redis: OwnRedis, away: Away, listener: Rings
) -> None:
    with away():
        await asyncio.sleep(0.1)
    stream = uuid7()

    async def ring_again_and_again() -> None:
        while True:
            doorbell.ring(stream)
            await asyncio.sleep(0.1)

    ringing = asyncio.create_task(ring_again_and_again())
    async with asyncio.timeout(5):
        while stream not in await anext(listener):
            pass
    ringing.cancel()
