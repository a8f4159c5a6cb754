"""120 requests per minute and key, counted in Redis, and what happens without Redis."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from devserver.ports import LOOPBACK
from publicapi.tests.v1 import wire
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import Customer
from publicapi.tests.v1.errors import RATE_HEADERS, refusal
from publicapi.tests.v1.rate_window import let_pass, use_up
from simulator.process import RunningSimulator
from tests.personas import new_key
from tests.service import Web, running_web
from tests.stopwatch import Stopwatch

CALLS = 130
MAX_SECONDS = 0.5  # seconds that a request may take while Redis is away


def remaining(response: httpx.Response) -> int:
    return int(response.headers["x-ratelimit-remaining"])


# --- The window -----------------------------------------------------------------------------------


def test_120_requests_are_taken_and_the_next_are_refused(alice: Customer) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: alice.get("/v1/models/gpt-6-luna"), range(CALLS)))
    taken = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert sorted(remaining(answer) for answer in taken) == list(range(120))
    assert len(refused) == 10
    for answer in refused:
        refusal(answer, 429, "rate_limit_exceeded")
        assert remaining(answer) == 0
        assert 50 <= int(answer.headers["retry-after"]) <= 60
        assert "x-should-retry" not in answer.headers


def test_the_seconds_it_names_are_the_seconds_it_takes(alice: Customer) -> None:
    use_up(alice.key)
    let_pass(alice.key, 58.7)
    refused = alice.chat()
    refusal(refused, 429, "rate_limit_exceeded")
    wait = int(refused.headers["retry-after"])
    assert wait in (1, 2)
    time.sleep(wait)
    assert alice.chat().status_code == 200


def test_the_window_slides(alice: Customer) -> None:
    alice.get("/v1/models")
    let_pass(alice.key, 59)
    for _ in range(10):
        alice.get("/v1/models")
    let_pass(alice.key, 2)
    assert remaining(alice.get("/v1/models")) == 120 - 10 - 1


def test_a_refused_request_costs_nothing_of_the_next_window(alice: Customer) -> None:
    use_up(alice.key)
    for _ in range(5):
        assert alice.get("/v1/models").status_code == 429
    let_pass(alice.key, 60)
    assert remaining(alice.get("/v1/models")) == 119


def test_a_refused_call_reaches_nobody_and_costs_nothing(alice: Customer) -> None:
    use_up(alice.key)
    refusal(alice.chat(), 429, "rate_limit_exceeded")
    assert (alice.provider_calls(), alice.charges()) == ([], [])
    alice.assert_nothing_billed()


def test_errors_count_too(alice: Customer) -> None:
    assert remaining(alice.post(content=b"{")) == 119
    assert remaining(alice.chat(model="no-such-model")) == 118


def test_each_key_has_a_window_of_its_own(alice: Customer) -> None:
    use_up(alice.key)
    _, other_key = new_key(alice.user)
    assert alice.chat().status_code == 429
    assert alice.chat_with(other_key).status_code == 200


def test_requests_without_a_key_are_not_counted(alice: Customer, http: httpx.Client) -> None:
    use_up(alice.key)
    assert http.get("/v1/models").status_code == 200


# --- Without Redis --------------------------------------------------------------------------------


@contextmanager
def silent_redis() -> Iterator[str]:
    """Takes every connection and never says a word."""
    with socket.create_server((LOOPBACK, 0), backlog=512) as silent:
        yield f"redis://{LOOPBACK}:{silent.getsockname()[1]}/0"


@contextmanager
def no_redis() -> Iterator[str]:
    """Takes no connection, and keeps the port from whoever would."""
    with socket.socket() as kept:
        kept.bind((LOOPBACK, 0))
        yield f"redis://{LOOPBACK}:{kept.getsockname()[1]}/0"


@pytest.fixture(scope="module", params=[no_redis, silent_redis], ids=["dead", "frozen"])
def lonely_web(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[Web]:
    """A web process whose Redis is away."""
    with (
        request.param() as url,
        django_db_blocker.unblock(),
        running_web(simulator, REDIS_URL=url) as web,
    ):
        yield web


def test_without_redis_nobody_is_limited_and_nobody_waits(
    customer: NewCustomer, lonely_web: Web
) -> None:
    alice = customer()
    answers: list[httpx.Response] = []
    waits: list[float] = []
    with wire.client(lonely_web.url, headers=alice.headers) as http:
        http.get("/v1/models")
        calls = [http.build_request("GET", "/v1/models/gpt-6-luna")] * CALLS
        calls.append(http.build_request("POST", "/v1/chat/completions", json=alice.body()))
        for call in calls:
            with Stopwatch() as watch:
                answers.append(http.send(call))
            waits.append(watch.seconds)

    assert {answer.status_code for answer in answers} == {200}
    assert max(waits) < MAX_SECONDS
    for answer in answers:
        assert [answer.headers[name] for name in RATE_HEADERS[::2]] == ["120", "60"]
    assert remaining(answers[0]) > remaining(answers[20])
    assert 0 <= remaining(answers[-1]) <= 119


def test_without_redis_many_at_once_do_not_wait_for_each_other(
    customer: NewCustomer, lonely_web: Web
) -> None:
    alice = customer()
    with (
        wire.client(lonely_web.url, headers=alice.headers) as http,
        ThreadPoolExecutor(16) as threads,
    ):
        time.sleep(1.1)  # Redis is looked for again
        with Stopwatch() as watch:
            answers = list(threads.map(lambda _: http.get("/v1/models/gpt-6-luna"), range(48)))
    assert {answer.status_code for answer in answers} == {200}
    slowest = max(answer.elapsed.total_seconds() for answer in answers)
    assert slowest < MAX_SECONDS + watch.lost
