"""A provider that fails is spared, by all processes, and its callers are told at once."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from health.exchange import ROUND_SECONDS
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import BALANCE_ONLY, EMBEDDING, IN_PLAN, Customer, new_customer
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.own_redis import OwnRedis
from tests.service import Web, running_web

MIN_CALLS = 5
OPEN_SECONDS = 3
DOWN = {"fail": "before", "status": 503}
BLOCKED = {"fail": "before", "status": 400, "code": "content_policy_violation"}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[OwnRedis]:
    redis = OwnRedis(tmp_path)
    yield redis
    redis.stop()


@pytest.fixture
def webs(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    redis: OwnRedis,
) -> Iterator[list[Web]]:
    """Two web processes that share circuits which open soon."""
    environment = {
        "REDIS_URL": redis.url,
        "CIRCUIT_MIN_CALLS": str(MIN_CALLS),
        "CIRCUIT_OPEN_SECONDS": str(OPEN_SECONDS),
    }
    with (
        django_db_blocker.unblock(),
        running_web(simulator, **environment) as first,
        running_web(simulator, **environment) as second,
    ):
        yield [first, second]


@pytest.fixture
def alice(committed: None, webs: list[Web], simulator: RunningSimulator) -> Iterator[Customer]:
    """A customer of the first process."""
    with wire.client(webs[0].url) as http:
        yield new_customer(http, webs[0], simulator)


@pytest.fixture
def bob(committed: None, webs: list[Web], simulator: RunningSimulator) -> Iterator[Customer]:
    """A customer of the second process."""
    with wire.client(webs[1].url) as http:
        yield new_customer(http, webs[1], simulator, name="bob")


def fail_until_open(customer: Customer, model: str = IN_PLAN) -> None:
    """Let the provider fail until its circuit is open."""
    while customer.chat(steer=DOWN, model=model).status_code == 502:
        assert len(customer.provider_calls()) <= MIN_CALLS


def wait_until_half_open() -> None:
    """A circuit refuses calls from when Redis hears of its failures: up to a round later."""
    time.sleep(OPEN_SECONDS + 2 * ROUND_SECONDS)


def is_refused(response: httpx.Response) -> bool:
    return response.status_code == 503


def test_a_provider_that_is_down_is_not_asked_any_more(alice: Customer) -> None:
    fail_until_open(alice)
    assert len(alice.provider_calls()) == MIN_CALLS
    charges = len(alice.charges())

    for _ in range(20):
        response = alice.chat()
        error = refusal(response, 503, "provider_unavailable")
        assert 1 <= int(response.headers["retry-after"]) <= OPEN_SECONDS
        assert "Retry-After" in error["message"]

    assert len(alice.provider_calls()) == MIN_CALLS
    assert len(alice.charges()) == charges, "refused before any hold"
    alice.assert_nothing_billed()


def test_a_stored_answer_is_replayed_while_the_provider_is_spared(alice: Customer) -> None:
    def send(key: str) -> httpx.Response:
        return alice.post(json=body, headers={"Idempotency-Key": key})

    body = alice.body()
    stored = send("stored")
    assert stored.status_code == 200
    fail_until_open(alice)
    asked = len(alice.provider_calls())

    again = send("stored")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert again.json() == stored.json()
    refusal(send("another"), 503, "provider_unavailable")
    assert len(alice.provider_calls()) == asked


def test_a_call_does_not_go_on_trying_when_the_circuit_has_opened(alice: Customer) -> None:
    """Of three attempts the fifth of all is the last."""
    first, second = alice.chat(steer=DOWN), alice.chat(steer=DOWN)
    refusal(first, 502, "upstream_error")
    refusal(second, 502, "upstream_error")
    assert len(alice.provider_calls()) == MIN_CALLS


def test_other_models_of_the_provider_are_served(alice: Customer) -> None:
    fail_until_open(alice)
    assert alice.embed(model=EMBEDDING).status_code == 200
    assert alice.chat(model="gpt-6.1-terra").status_code == 200


def test_all_processes_spare_the_provider(alice: Customer, bob: Customer) -> None:
    fail_until_open(alice)
    wait_for(lambda: is_refused(bob.chat()))
    asked = len(bob.provider_calls())
    refusal(bob.chat(), 503, "provider_unavailable")
    assert len(bob.provider_calls()) == asked


def test_failures_are_counted_for_all_processes_together(alice: Customer, bob: Customer) -> None:
    """Neither of them alone would open the circuit."""
    alice.chat(steer={**DOWN, "times": 3})
    bob.chat(steer={**DOWN, "times": 3})
    wait_for(lambda: is_refused(alice.chat()) and is_refused(bob.chat()))


def test_one_call_of_fifty_tries_whether_the_provider_is_back(
    alice: Customer, bob: Customer
) -> None:
    fail_until_open(alice)
    wait_for(lambda: is_refused(bob.chat()))
    before = len(alice.provider_calls()) + len(bob.provider_calls())
    wait_until_half_open()
    slow = {"tokens": 3, "ttft_ms": 3000}

    def call(number: int) -> int:
        customer = (alice, bob)[number % 2]
        return customer.chat(steer=slow).status_code

    with ThreadPoolExecutor(50) as threads:
        answers = Counter(threads.map(call, range(50)))

    assert answers == {200: 1, 503: 49}
    assert len(alice.provider_calls()) + len(bob.provider_calls()) == before + 1
    # It is back, for all: one of the processes hears of it.
    wait_for(lambda: alice.chat().status_code == 200)
    wait_for(lambda: bob.chat().status_code == 200)


def test_a_probe_that_fails_spares_the_provider_again(alice: Customer) -> None:
    fail_until_open(alice)
    wait_until_half_open()
    refusal(alice.chat(steer=DOWN), 502, "upstream_error")
    assert len(alice.provider_calls()) == MIN_CALLS + 1, "a probe is made once"
    refusal(alice.chat(), 503, "provider_unavailable")
    assert len(alice.provider_calls()) == MIN_CALLS + 1


def test_a_probe_whose_request_is_refused_makes_room_for_the_next(alice: Customer) -> None:
    fail_until_open(alice)
    wait_until_half_open()
    refusal(alice.chat(steer=BLOCKED), 400, "content_blocked")
    assert alice.chat().status_code == 200


def test_a_probe_that_cannot_be_paid_makes_room_for_the_next(alice: Customer) -> None:
    poor = new_customer(alice.http, alice.web, alice.simulator, balance_usd=0)
    fail_until_open(alice, model=BALANCE_ONLY)
    wait_until_half_open()
    assert poor.chat(model=BALANCE_ONLY).status_code == 402
    assert alice.chat(model=BALANCE_ONLY).status_code == 200


def test_what_one_user_sends_closes_no_provider(alice: Customer) -> None:
    for _ in range(2 * MIN_CALLS):
        refusal(alice.chat(steer=BLOCKED), 400, "content_blocked")
        refusal(alice.chat(steer={"fail": "before", "status": 413}), 400, "input_too_long")
        assert alice.chat(messages=[]).status_code == 400
    assert alice.chat().status_code == 200


def test_the_failures_of_one_user_close_no_provider_that_serves_others(
    alice: Customer, bob: Customer
) -> None:
    """A prompt that the provider's own code does not stand."""
    beside = replace(bob, http=alice.http, web=alice.web, marker=f"{bob.marker}-beside")
    assert beside.chat().status_code == 200
    for _ in range(MIN_CALLS):
        refusal(alice.chat(steer=DOWN), 502, "upstream_error")
    assert beside.chat().status_code == 200


def test_a_refused_key_of_ours_opens_the_circuit(alice: Customer) -> None:
    for _ in range(MIN_CALLS):
        refusal(alice.chat(steer={"fail": "before", "status": 401}), 502, "upstream_error")
    refusal(alice.chat(), 503, "provider_unavailable")


def test_a_provider_that_limits_our_rate_is_not_down(alice: Customer) -> None:
    limited = {"fail": "before", "status": 429, "retry_after": 30}
    for _ in range(2 * MIN_CALLS):
        response = alice.chat(steer=limited)
        refusal(response, 502, "upstream_error")
        assert response.headers["retry-after"] == "30"
    assert alice.chat().status_code == 200
    assert len(alice.provider_calls()) == 2 * MIN_CALLS + 1, "nobody waits so long"


def test_streams_that_break_open_the_circuit(alice: Customer) -> None:
    breaking = {"tokens": 5, "drop": True, "after_tokens": 2}
    for _ in range(MIN_CALLS):
        assert alice.chat(steer=breaking, stream=True).status_code == 200
    refusal(alice.chat(), 503, "provider_unavailable")


def test_without_redis_every_call_is_let_through(alice: Customer, redis: OwnRedis) -> None:
    for _ in range(2):
        alice.chat(steer=DOWN)
    with redis.frozen():
        wait_for(lambda: alice.chat().status_code == 200)
        # As often as it likes.
        for _ in range(2 * MIN_CALLS):
            refusal(alice.chat(steer=DOWN), 502, "upstream_error")
    assert IN_PLAN in {charge.model_id for charge in alice.charges()}
