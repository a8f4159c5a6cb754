"""A provider that fails is spared, by all processes, and its callers are told at once."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from publicapi.tests.v1 import wire
from publicapi.tests.v1.circuits import (
    DOWN,
    beside,
    call_until,
    customer_of,
    is_refused,
    probes_since,
    two_webs,
)
from publicapi.tests.v1.customer import (
    BALANCE_ONLY,
    EMBEDDING,
    IN_PLAN,
    Customer,
    new_customer,
)
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.short_circuits import SHORT_CIRCUITS

FAILURES = int(SHORT_CIRCUITS["CIRCUIT_FAILURES"])
CALLER_FAILURES = int(SHORT_CIRCUITS["CALLER_FAILURES"])
BLOCKED = {"fail": "before", "status": 400, "code": "content_policy_violation"}


@pytest.fixture(scope="module")
def webs(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    own_redis: OwnRedis,
) -> Iterator[list[Web]]:
    with django_db_blocker.unblock(), two_webs(simulator, own_redis) as webs:
        yield webs


@pytest.fixture
def alice(
    committed: None, webs: list[Web], own_redis: OwnRedis, simulator: RunningSimulator
) -> Iterator[Customer]:
    """A customer of the first process. Nothing is known of any provider."""
    with customer_of(webs, own_redis, simulator) as alice:
        yield alice


@pytest.fixture
def bob(alice: Customer, webs: list[Web], simulator: RunningSimulator) -> Iterator[Customer]:
    """A customer of the second process."""
    with wire.client(webs[1].url) as http:
        yield new_customer(http, webs[1], simulator, name="bob")


def take_down(customer: Customer, model: str = IN_PLAN) -> None:
    """Let the provider fail until its circuit is open for this customer."""
    customer.simulator.begin_outage(model, **DOWN)
    call_until(lambda: is_refused(customer.chat(model=model)))


# --- Who is down ----------------------------------------------------------------------------------


def test_a_provider_that_is_down_is_not_asked_any_more(alice: Customer) -> None:
    take_down(alice)
    asked, charges = len(alice.provider_calls()), len(alice.charges())

    for _ in range(20):
        response = alice.chat()
        error = refusal(response, 503, "provider_unavailable")
        assert 1 <= int(response.headers["retry-after"]) <= 60
        assert "Retry-After" in error["message"]

    assert len(alice.provider_calls()) == asked
    assert len(alice.charges()) == charges, "refused before any hold"
    alice.assert_nothing_billed()
    probe = probes_since(alice)[0]
    assert (probe.funding, probe.status, probe.cost) == ("platform", "released", 0)


def test_no_customer_tries_whether_the_provider_is_back(alice: Customer, bob: Customer) -> None:
    take_down(alice)
    call_until(lambda: is_refused(bob.chat()))
    customers = (alice, bob)
    asked = sum(len(each.provider_calls()) for each in customers)
    made = len(probes_since(alice))

    def call(number: int) -> int:
        return customers[number % 2].chat().status_code

    with ThreadPoolExecutor(20) as threads:
        assert set(threads.map(call, range(20))) == {503}
        # A key may make 120 calls in a minute: four at a time last for half of it.
        while len(probes_since(alice)) < made + 2:
            assert set(threads.map(call, range(4))) == {503}
            time.sleep(0.5)
    assert sum(len(each.provider_calls()) for each in customers) == asked

    alice.simulator.end_outages()
    call_until(lambda: alice.chat().status_code == 200)
    call_until(lambda: bob.chat().status_code == 200)
    assert probes_since(alice)[-1].status == "settled"


def test_a_stored_answer_is_replayed_while_the_provider_is_spared(alice: Customer) -> None:
    def send(key: str) -> httpx.Response:
        return alice.post(json=body, headers={"Idempotency-Key": key})

    body = alice.body()
    stored = send("stored")
    assert stored.status_code == 200
    take_down(alice)
    asked = len(alice.provider_calls())

    again = send("stored")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert again.json() == stored.json()
    refusal(send("another"), 503, "provider_unavailable")
    assert len(alice.provider_calls()) == asked


def test_other_models_of_the_provider_are_served(alice: Customer) -> None:
    take_down(alice)
    assert alice.embed(model=EMBEDDING).status_code == 200
    assert alice.chat(model="gpt-6.1-terra").status_code == 200


def test_failures_are_counted_for_all_processes_together(alice: Customer, bob: Customer) -> None:
    """Neither of them alone would cause a probe. Each call counts once, whatever its attempts."""
    alice.simulator.begin_outage(IN_PLAN, **DOWN)
    for customer in (alice, bob):
        refusal(customer.chat(), 502, "upstream_error")
    assert not probes_since(alice)
    refusal(bob.chat(), 502, "upstream_error")
    call_until(lambda: is_refused(alice.chat()) and is_refused(bob.chat()))


def test_streams_that_break_open_the_circuit(alice: Customer) -> None:
    alice.simulator.begin_outage(IN_PLAN, tokens=5, drop=True, after_tokens=2)
    for _ in range(FAILURES):
        assert alice.chat(stream=True).status_code == 200
    call_until(lambda: is_refused(alice.chat()))


def test_embeddings_are_probed_too(alice: Customer) -> None:
    alice.simulator.begin_outage(EMBEDDING, **DOWN)
    call_until(lambda: is_refused(alice.embed()))
    assert probes_since(alice, EMBEDDING)[0].kind == "embeddings"
    alice.simulator.end_outages()
    call_until(lambda: alice.embed().status_code == 200)


def test_a_refused_key_of_ours_opens_the_circuit_at_once(alice: Customer) -> None:
    alice.simulator.begin_outage(IN_PLAN, status=401)
    refusal(alice.chat(), 502, "upstream_error")
    refusal(alice.chat(), 503, "provider_unavailable")
    alice.simulator.end_outages()
    call_until(lambda: alice.chat().status_code == 200)


def test_a_provider_that_is_not_reached_is_not_tried_by_another_call(
    alice: Customer, own_redis: OwnRedis
) -> None:
    """What no content can cause needs no probe. One is made at once to find out if it is back."""
    nowhere = {"SIMULATOR_URL": "http://127.0.0.1:9", "REDIS_URL": own_redis.url, **SHORT_CIRCUITS}
    with running_web(alice.simulator, **nowhere) as web, wire.client(web.url) as http:
        carol = new_customer(http, web, alice.simulator, name="carol")
        refusal(carol.chat(model=BALANCE_ONLY), 502, "upstream_error")
        refusal(carol.chat(model=BALANCE_ONLY), 503, "provider_unavailable")
        wait_for(lambda: probes_since(alice, BALANCE_ONLY))


# --- Who is not -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "steering",
    [
        DOWN,
        {"fail": "before", "status": 403},
        {"fail": "before", "status": 404},
        {"drop": True},
    ],
)
def test_what_one_customer_sends_closes_a_model_for_nobody(
    alice: Customer, bob: Customer, steering: dict[str, object]
) -> None:
    """On a model that nobody else calls, too: the probe is answered."""
    neighbour = beside(alice, "charlie")
    with ThreadPoolExecutor(2 * CALLER_FAILURES) as threads:
        answers = list(threads.map(lambda _: alice.chat(steer=steering), range(20)))
    assert {each.status_code for each in answers} <= {502, 429}
    for customer in (bob, neighbour):
        assert customer.chat().status_code == 200
    wait_for(lambda: probes_since(alice)[0].status == "settled")
    probe = probes_since(alice)[0]
    assert (probe.charge_plan, probe.charge_balance) == (0, 0)
    assert probe.cost > 0, "the platform bears it"


def test_a_caller_whose_own_calls_keep_failing_is_refused_alone(alice: Customer) -> None:
    assert beside(alice, "bob").chat().status_code == 200
    call_until(lambda: alice.chat(steer=DOWN).status_code == 429)
    asked, charges = len(alice.provider_calls()), len(alice.charges())
    response = alice.chat()
    error = refusal(response, 429, "rate_limit_exceeded")
    assert 1 <= int(response.headers["retry-after"]) <= 60
    assert "Your own calls" in error["message"]
    assert (len(alice.provider_calls()), len(alice.charges())) == (asked, charges)
    # At this model alone, and briefly.
    assert alice.chat(model=BALANCE_ONLY).status_code == 200
    assert beside(alice, "charlie").chat().status_code == 200
    call_until(lambda: alice.chat().status_code == 200)
    # A call that was served ends the row.
    for _ in range(CALLER_FAILURES - 1):
        refusal(alice.chat(steer=DOWN), 502, "upstream_error")


def test_what_is_wrong_with_a_request_counts_for_nothing(alice: Customer) -> None:
    for _ in range(2 * CALLER_FAILURES):
        refusal(alice.chat(steer=BLOCKED), 400, "content_blocked")
        refusal(alice.chat(steer={"fail": "before", "status": 413}), 400, "input_too_long")
        assert alice.chat(messages=[]).status_code == 400
    assert alice.chat().status_code == 200
    assert not probes_since(alice)


def test_a_provider_that_limits_our_rate_is_not_down(alice: Customer) -> None:
    alice.simulator.begin_outage(IN_PLAN, fail="before", status=429, retry_after=30)
    for _ in range(2 * CALLER_FAILURES):
        response = alice.chat()
        refusal(response, 502, "upstream_error")
        assert response.headers["retry-after"] == "30"
    assert len(alice.provider_calls()) == 2 * CALLER_FAILURES, "nobody waits so long"
    assert not probes_since(alice)


def test_pictures_are_not_probed_and_their_failures_close_nothing(alice: Customer) -> None:
    for _ in range(2 * FAILURES):
        refusal(alice.draw(steer=DOWN), 502, "upstream_error")
    assert beside(alice, "bob").draw().status_code == 200
    assert not probes_since(alice, "gpt-image-2.5-flare")


# --- Without Redis --------------------------------------------------------------------------------


def test_without_redis_every_call_is_let_through(alice: Customer, own_redis: OwnRedis) -> None:
    take_down(alice)
    made = len(probes_since(alice))
    with own_redis.frozen():
        call_until(lambda: alice.chat().status_code == 502)
        # As often as it likes.
        for _ in range(2 * CALLER_FAILURES):
            refusal(alice.chat(), 502, "upstream_error")
        assert len(probes_since(alice)) <= made + 1, "one may have begun before"
    assert IN_PLAN in {charge.model_id for charge in alice.charges()}


# --- Without a budget -----------------------------------------------------------------------------


def test_without_a_budget_failures_open_nothing_and_faults_do(
    alice: Customer, tmp_path: Path
) -> None:
    log, redis = tmp_path / "log", OwnRedis(tmp_path)
    settings = {
        "REDIS_URL": redis.url,
        **SHORT_CIRCUITS,
        "CIRCUIT_OPEN_SECONDS": "1",
        "PROBE_DAILY_BUDGET_USD": "0",
    }
    with (
        running_web(alice.simulator, log=str(log), **settings) as web,
        wire.client(web.url) as http,
    ):
        carol = new_customer(http, web, alice.simulator, name="carol")
        alice.simulator.begin_outage(BALANCE_ONLY, **DOWN)
        for _ in range(2 * FAILURES):
            refusal(carol.chat(model=BALANCE_ONLY), 502, "upstream_error")
        alice.simulator.end_outages()
        assert carol.chat(model=BALANCE_ONLY).status_code == 200

        refused_key = {"fail": "before", "status": 401}
        refusal(carol.chat(steer=refused_key, model=BALANCE_ONLY), 502, "upstream_error")
        refusal(carol.chat(model=BALANCE_ONLY), 503, "provider_unavailable")
        call_until(lambda: carol.chat(model=BALANCE_ONLY).status_code == 200)
    redis.stop()
    assert not probes_since(alice, BALANCE_ONLY)
    assert log.read_text().count("provider.probe_budget_spent") == 1
