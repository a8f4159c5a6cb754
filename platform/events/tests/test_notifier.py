"""Notifications from threads and loops are received; nobody waits while Redis is away."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pytest_django import Settings
from redis import Redis

from common.ids import uuid7
from events import notifier
from events.tests.layers import ring_over
from tests.own_redis import OwnRedis
from tests.stopwatch import Stopwatch

Notifications = AsyncGenerator[set[UUID], None]
Away = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def own_redis(tmp_path: Path, settings: Settings) -> Iterator[OwnRedis]:
    """The one that the notifier uses."""
    own = OwnRedis(tmp_path)
    ring_over(own, settings)
    yield own
    own.stop()


@pytest.fixture(params=[OwnRedis.dead, OwnRedis.frozen], ids=["dead", "frozen"])
def away(request: pytest.FixtureRequest, own_redis: OwnRedis) -> Away:
    return lambda: request.param(own_redis)


@pytest.fixture
async def listener(own_redis: OwnRedis) -> AsyncGenerator[Notifications, None]:
    """Somebody who hears all that is notified from now on."""
    received = notifier.notifications()
    assert await anext(received) == set()
    yield received
    await received.aclose()


async def hear(listener: Notifications, streams: set[UUID]) -> None:
    """Until all of these were notified."""
    async with asyncio.timeout(5):
        while streams:
            streams = streams - await anext(listener)


async def test_a_notification_from_a_thread_is_heard(listener: Notifications) -> None:
    stream = uuid7()
    await asyncio.to_thread(notifier.notify, stream)
    await hear(listener, {stream})


async def test_notifications_from_a_loop_are_heard(listener: Notifications) -> None:
    streams = {uuid7() for _ in range(300)}
    for stream in streams:
        notifier.notify(stream)
    await hear(listener, streams)


async def test_several_streams_are_rung_for_at_once(listener: Notifications) -> None:
    streams = {uuid7(), uuid7()}
    notifier.notify(*streams)
    await hear(listener, streams)


async def test_everybody_who_listens_hears(listener: Notifications) -> None:
    others = [notifier.notifications() for _ in range(3)]
    assert [await anext(other) for other in others] == [set()] * 3
    stream = uuid7()
    notifier.notify(stream)
    for each in (listener, *others):
        await hear(each, {stream})
    for other in others:
        await other.aclose()


async def test_nobody_waits_while_redis_is_away(away: Away, listener: Notifications) -> None:
    def seconds_of_many_rings() -> float:
        began = time.monotonic()
        for _ in range(200):
            notifier.notify(uuid7())
        return time.monotonic() - began

    with away():
        # The fastest, for this machine may be busy; who waits for Redis waits each time.
        tries = []
        for _ in range(3):
            tries += [seconds_of_many_rings(), await asyncio.to_thread(seconds_of_many_rings)]
            await asyncio.sleep(notifier.TIMEOUT + notifier.PAUSE)
    assert min(tries) < 0.05


async def test_what_could_not_be_rung_for_is_rung_for_when_redis_is_back(
    own_redis: OwnRedis, listener: Notifications
) -> None:
    streams = {uuid7() for _ in range(20)}
    with own_redis.frozen():
        for stream in streams:
            notifier.notify(stream)
            await asyncio.sleep(0.1)
    with Stopwatch() as watch:
        await hear(listener, streams)
    assert watch.seconds < 1.5


async def test_notifications_are_heard_again_when_redis_is_back(
    away: Away, listener: Notifications
) -> None:
    with away():
        await asyncio.sleep(0.1)
    stream = uuid7()

    async def ring_again_and_again() -> None:
        while True:
            notifier.notify(stream)
            await asyncio.sleep(0.1)

    ringing = asyncio.create_task(ring_again_and_again())
    await hear(listener, {stream})
    ringing.cancel()


async def test_who_hears_nothing_for_long_listens_anew(own_redis: OwnRedis) -> None:
    listener = notifier.notifications(silence=0.5)
    stream = uuid7()
    with Redis.from_url(own_redis.url) as redis:
        assert await anext(listener) == set()
        notifier.notify(stream)
        await hear(listener, {stream})
        before = listening(redis)
        while await anext(listener):
            pass
        notifier.notify(stream)
        await hear(listener, {stream})
        assert before
        assert not before & listening(redis)
    await listener.aclose()


def listening(redis: Redis) -> set[str]:
    """The ids of the connections that listen."""
    clients: Any = redis.client_list(_type="pubsub")
    return {client["id"] for client in clients}
