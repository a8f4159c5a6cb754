"""Redis is emptied, stands still, and is ended under replies: they go on, whoever resumes them gets
everything, and nobody waits for it."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.stopwatch import Stopwatch
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

# What is asked for waits for Redis for a moment at most.
MAX_SECONDS = 1.5
LONG = {"tokens": 150, "delay_ms": 100}


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    own = OwnRedis(tmp_path)
    yield own
    own.stop()


def test_replies_go_on_and_are_resumed_at_another_process(
    own_redis: OwnRedis, simulator: RunningSimulator
) -> None:
    with (
        running_web(simulator, REDIS_URL=own_redis.url) as web,
        running_web(simulator, REDIS_URL=own_redis.url) as other,
        ThreadPoolExecutor(6) as threads,
    ):
        talk = Talk(customer("alice"))
        whole = threads.submit(talk.say, web.url, **LONG)
        calls.wait_for(talk.runs)
        followers = [threads.submit(_resume, talk, other)]
        with Redis.from_url(own_redis.url) as connection:
            connection.flushall()
        _assert_a_reply_is_given(web, other)
        with own_redis.frozen():
            followers.append(threads.submit(_resume, talk, other))
            _assert_a_reply_is_given(web, other)
        with own_redis.dead():
            followers.append(threads.submit(_resume, talk, other))
            _assert_a_reply_is_given(web, other)
            assert talk.runs()
        _assert_all_read_the_same(talk, [whole, *followers])


def _assert_all_read_the_same(talk: Talk, readers: list[Future[Reading]]) -> None:
    for reader in readers:
        reading = reader.result(30)
        assert reading.text == talk.reply.content
        assert reading.ended
    assert len(talk.reply.content.split()) == LONG["tokens"]
    assert (talk.reply.status, talk.charge.status) == ("completed", "settled")


def _assert_a_reply_is_given(web: Web, other: Web) -> None:
    """It begins without delay, and who follows it elsewhere gets all of it, if later."""
    talk = Talk(customer("bob"))
    with Stopwatch() as watch, talk.sent(web.url, tokens=20, delay_ms=50) as response:
        reading = Reading().follow(response).until(lambda reading: reading.has("start"))
        assert watch.seconds < MAX_SECONDS
        followed = _resume(talk, other)
        reading.to_end()
    assert followed.text == reading.text == talk.reply.content
    assert followed.ended


def _resume(talk: Talk, web: Web) -> Reading:
    with talk.opened(web.url) as response:
        return Reading().read(response)
