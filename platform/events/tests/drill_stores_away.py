"""Redis or PostgreSQL away for a while: sockets stay, and get everything that was committed."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from urllib.parse import urlsplit

import pytest
from django.db import connection
from pytest_django import Settings
from redis import Redis

from events.tests.layers import ring_over
from events.tests.sockets import next_frame, next_seqs, open_socket, refusal_of, token_of, url_of
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.chaos.proxy import LossyProxy
from tests.own_redis import OwnRedis
from tests.personas import new_user
from tests.service import Web, database_url, running_web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")

# Notifications are lost, and the next look is at most so far away.
CAUGHT_UP_SECONDS = 7.0

Away = Callable[[OwnRedis], AbstractContextManager[None]]


@contextmanager
def flushed(own_redis: OwnRedis) -> Iterator[None]:
    with Redis.from_url(own_redis.url) as redis:
        redis.flushall()
    yield


@contextmanager
def disconnected(own_redis: OwnRedis) -> Iterator[None]:
    """All connections are cut, as by a restart or a network that breaks."""
    with Redis.from_url(own_redis.url) as redis:
        redis.client_kill_filter(_type="pubsub")
        redis.client_kill_filter(_type="normal", skipme=True)
    yield


@pytest.mark.parametrize(
    "away", [flushed, disconnected, OwnRedis.dead, OwnRedis.frozen], ids=lambda away: away.__name__
)
def test_redis_may_go_and_come_back(
    web_on_own_redis: Web, own_redis: OwnRedis, settings: Settings, away: Away
) -> None:
    web = web_on_own_redis
    ring_over(own_redis, settings)
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        append(stream_id, "before")
        assert next_seqs(socket, 1) == [1]
        with away(own_redis):
            with Stopwatch() as watch:
                append(stream_id, "meanwhile")
                append(stream_id, "meanwhile")
                assert watch.seconds < 1  # who writes hardly waits
                assert next_seqs(socket, 2) == [2, 3]
            assert watch.seconds < CAUGHT_UP_SECONDS
            with open_socket(web, alice, stream_id) as late:
                append(stream_id, "to a socket that was opened meanwhile")
                assert next_seqs(late, 1) == next_seqs(socket, 1) == [4]
        append(stream_id, "after")
        assert next_seqs(socket, 1) == [5]


def test_rings_are_heard_again_after_redis_was_away(
    web_on_own_redis: Web, own_redis: OwnRedis, settings: Settings
) -> None:
    ring_over(own_redis, settings)
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web_on_own_redis, alice, stream_id) as socket:
        with own_redis.dead():
            time.sleep(1.5)
        time.sleep(2.5)
        waits = []
        for _ in range(8):
            with Stopwatch() as watch:
                append(stream_id, "hello")
                next_frame(socket)
            waits.append(watch.seconds)
        assert max(waits) < 1


def test_postgresql_may_stand_still(simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    port = urlsplit(database_url()).port or 5432
    with (
        LossyProxy(port) as proxy,
        running_web(
            simulator,
            DATABASE_URL=database_url().replace(f":{port}/", f":{proxy.port}/"),
            SOCKET_TICK_SECONDS="1",
        ) as web,
        open_socket(web, alice, stream_id) as socket,
    ):
        append(stream_id, "before")
        assert next_seqs(socket, 1) == [1]
        proxy.flowing.clear()
        append(stream_id, "meanwhile")
        time.sleep(3)
        url = url_of(web, stream_id, token=token_of(alice))
        assert refusal_of(url) == 1013
        proxy.flowing.set()
        assert next_seqs(socket, 1) == [2]
        while json.loads(socket.recv(10)).get("type") != "ping":
            pass
        append(stream_id, "after")
        assert next_seqs(socket, 1) == [3]


def test_connections_to_postgresql_may_be_cut(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        append(stream_id, "before")
        assert next_seqs(socket, 1) == [1]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = 'platform-hot'"
            )
            assert cursor.fetchone()[0] > 0
        for seq in (2, 3):
            append(stream_id, "after")
            assert next_seqs(socket, 1) == [seq]
