"""Redis is emptied, stands still, and is ended under councils: they go on, whoever follows them
gets everything, and nobody waits for it."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from council.tests.owner import MODELS, Owner, Shape, new_owner
from events.models import Event
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.own_redis import OwnRedis
from tests.service import running_web
from tests.stopwatch import Stopwatch
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")

FROZEN_SECONDS = 30
# What is asked for waits for Redis for a moment at most.
MAX_SECONDS = 1.0


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    own = OwnRedis(tmp_path)
    yield own
    own.stop()


def test_councils_go_on_and_are_followed_to_their_end(
    own_redis: OwnRedis, simulator: RunningSimulator
) -> None:
    with (
        running_web(simulator, REDIS_URL=own_redis.url) as web,
        running_worker(simulator, REDIS_URL=own_redis.url),
        httpx.Client(base_url=web.url, timeout=20) as http,
    ):
        alice = new_owner(http, web, simulator)
        long = alice.start(MODELS[0], prompt=alice.text(tokens=1000, delay_ms=50))
        with alice.follow(long):
            with Redis.from_url(own_redis.url) as connection:
                connection.flushall()
            _assert_a_council_is_held(alice)
            with own_redis.frozen():
                until = time.monotonic() + FROZEN_SECONDS
                _assert_a_council_is_held(alice)
                _assert_it_grows(long)
                time.sleep(max(0, until - time.monotonic()))
            _assert_a_council_is_held(alice)
            with own_redis.dead():
                _assert_a_council_is_held(alice)
                _assert_it_grows(long)

    assert {call["outcome"] for call in alice.calls()} == {"completed"}
    assert [charge.status for charge in alice.charges().values()] == ["settled"] * 5


def _assert_a_council_is_held(owner: Owner) -> None:
    """It begins without delay, is done without a message, and its follower gets all of it."""
    with Stopwatch() as watch:
        session = owner.start(MODELS[0])
    assert watch.seconds < MAX_SECONDS
    with owner.follow(session) as follower:
        last = follower.wait_until_idle()
    assert last["status"] == "completed"


def _assert_it_grows(session: Shape) -> None:
    """A council that runs goes on telling."""
    log = Event.objects.filter(stream=session["id"])
    length = log.count()
    calls.wait_for(lambda: log.count() > length)
