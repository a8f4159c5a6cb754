"""What is left of the limits while Redis is away: those on signing in, by each process alone."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

import pytest
from redis import Redis

from server.client_limit import AUTHENTICATION_LIMIT, GENERAL_LIMIT
from server.rate_limit import LOCAL_NAMES, REDIS_PAUSE, Limit, LocalWindows
from server.tests.client import Client, assert_refused
from server.tests.windows import counted, fill
from tests.own_redis import OwnRedis
from tests.service import Web
from tests.stopwatch import Stopwatch

MAX_SECONDS = 0.3  # seconds that a request may wait for Redis, and then some for its answer
ANSWERING = 0.2

Away = Callable[[], AbstractContextManager[None]]


def _until_looked_for_again() -> None:
    time.sleep(REDIS_PAUSE + 0.1)


@pytest.fixture
def alice(web_on_own_redis: Web) -> Iterator[Client]:
    with Client(web_on_own_redis.url) as alice:
        yield alice


@pytest.fixture(params=[OwnRedis.dead, OwnRedis.frozen], ids=["dead", "frozen"])
def away(request: pytest.FixtureRequest, own_redis: OwnRedis) -> Away:
    @contextmanager
    def away() -> Iterator[None]:
        with request.param(own_redis):
            yield
        _until_looked_for_again()

    return away


def test_signing_in_is_limited_all_the_same_and_an_outage_gives_no_second_quota(
    alice: Client, own_redis: OwnRedis, away: Away
) -> None:
    assert [alice.try_to_sign_in().status_code for _ in range(30)] == [422] * 30
    assert counted(own_redis.url, alice.sign_ins) == 30
    with away():
        with Stopwatch() as watch:
            answers = [alice.try_to_sign_in() for _ in range(71)]
        assert [answer.status_code for answer in answers[:70]] == [422] * 70
        assert_refused(answers[70])
        slowest = max(answer.elapsed.total_seconds() for answer in answers)
        assert slowest < MAX_SECONDS + ANSWERING + watch.lost
    before = counted(own_redis.url, alice.sign_ins)
    assert_refused(alice.try_to_sign_in())
    assert counted(own_redis.url, alice.sign_ins) == before


def test_signing_in_is_counted_in_redis_when_it_is_back(
    alice: Client, own_redis: OwnRedis, away: Away
) -> None:
    with away():
        assert alice.try_to_sign_in().status_code == 422
    before = counted(own_redis.url, alice.sign_ins)
    assert alice.try_to_sign_in().status_code == 422
    assert counted(own_redis.url, alice.sign_ins) == before + 1


def test_who_is_refused_by_redis_takes_nothing_here_either(
    alice: Client, own_redis: OwnRedis
) -> None:
    with Redis.from_url(own_redis.url) as connection:
        fill(own_redis.url, alice.sign_ins, AUTHENTICATION_LIMIT)
        for _ in range(AUTHENTICATION_LIMIT.requests + 1):
            assert_refused(alice.try_to_sign_in())
        connection.delete(f"limit:{alice.sign_ins}")
    assert alice.try_to_sign_in().status_code == 422


def test_nothing_else_is_limited(alice: Client, away: Away) -> None:
    with away(), ThreadPoolExecutor(8) as threads:
        statuses = threads.map(
            lambda _: alice.get("/api/nothing").status_code, range(GENERAL_LIMIT.requests + 10)
        )
        assert set(statuses) == {404}


def test_many_at_once_do_not_wait_for_each_other(alice: Client, away: Away) -> None:
    alice.get("/api/nothing")
    with away(), ThreadPoolExecutor(16) as threads:
        _until_looked_for_again()
        with Stopwatch() as watch:
            answers = list(threads.map(lambda _: alice.get("/api/nothing"), range(48)))
    assert {answer.status_code for answer in answers} == {404}
    slowest = max(answer.elapsed.total_seconds() for answer in answers)
    assert slowest < MAX_SECONDS + ANSWERING + watch.lost


# --- The windows of a process ---------------------------------------------------------------------


def test_a_process_counts_exactly() -> None:
    windows, limit = LocalWindows(), Limit(requests=2, window=1)
    verdicts = [windows.count("alice", limit) for _ in range(3)]
    assert [verdict.allowed for verdict in verdicts] == [True, True, False]
    assert [verdict.remaining for verdict in verdicts] == [1, 0, 0]
    assert verdicts[2].retry_after == 1
    assert windows.count("bob", limit).allowed
    time.sleep(verdicts[2].retry_after)
    assert windows.count("alice", limit).remaining == 1


def test_a_process_remembers_those_who_asked_last() -> None:
    windows, limit = LocalWindows(), Limit(requests=2 * LOCAL_NAMES, window=60)
    windows.count("alice", limit)
    for stranger in range(LOCAL_NAMES):
        windows.count("bob", limit)
        windows.count(str(stranger), limit)
    assert windows.count("bob", limit).remaining == limit.requests - LOCAL_NAMES - 1
    assert windows.count("alice", limit).remaining == limit.requests - 1
