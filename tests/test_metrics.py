"""What a web process counts, read over the port of its metrics right after it happened."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import httpx
import psycopg
import pytest
from pytest_django import DjangoDbBlocker
from websockets.sync.client import connect

from ai.provider_health.switches import switch_model, switch_provider
from ai.provider_health.tests.opened import opened
from billing.models import Charge
from common.ids import uuid7
from common.money import NUSD_PER_USD
from conversations.tests.speaker import new_speaker
from devserver.ports import free_port
from publicapi.tests.v1 import rate_window
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.personas import access_token_of, authorization
from tests.scrape import Scraped, scrape
from tests.service import Web, database_url, running_web
from tests.worker import running_worker

OPENAI = {"provider": "openai", "model": IN_PLAN}
# A route that reads the database, for everybody who is signed in.
ME = "/api/auth/me"
# One that waits for its turn.
QUEUED = "/api/conversations"


class Watched(SimpleNamespace):
    """A web process and the port of its metrics."""

    web: Web
    port: int

    def read(self) -> Scraped:
        return scrape(self.port)


@pytest.fixture(scope="module")
def watched(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Watched]:
    port = free_port()
    with django_db_blocker.unblock(), running_web(simulator, METRICS_PORT=str(port)) as web:
        yield Watched(web=web, port=port)


@pytest.fixture
def alice(committed: None, watched: Watched, simulator: RunningSimulator) -> Iterator[Customer]:
    with httpx.Client(base_url=watched.web.url, timeout=30) as http:
        yield new_customer(http, watched.web, simulator)


class Rise:
    """By how much series have risen between two scrapes."""

    def __init__(self, before: Scraped, after: Scraped) -> None:
        self._before, self._after = before, after

    def of(self, name: str, /, **labels: str) -> float:
        return self._after.total(name, **labels) - self._before.total(name, **labels)


def calls_of(scraped: Scraped) -> float:
    return scraped.total("platform_calls_total")


def risen(watched: Watched, before: Scraped, *, calls: int = 1) -> Rise:
    """After so many calls have ended: that is counted a moment after their answer."""
    wait_for(lambda: calls_of(watched.read()) - calls_of(before) == calls)
    return Rise(before, watched.read())


# --- Calls --------------------------------------------------------------------------------------


def test_a_call_that_is_settled(watched: Watched, alice: Customer) -> None:
    before = watched.read()
    answer = alice.chat(steer={"tokens": 5}, stream=True)
    assert answer.status_code == 200
    rise, charge = risen(watched, before), alice.charge()
    assert charge.status == "settled"
    assert rise.of("platform_calls_total", **OPENAI, kind="chat", status="settled", code="") == 1
    tokens = [rise.of("platform_tokens_total", **OPENAI, direction=way) for way in ("in", "out")]
    assert tokens == [charge.units["tokens_in"], charge.units["tokens_out"]]
    seconds = (
        *("platform_call_seconds", "platform_call_first_output_seconds"),
        *("platform_call_own_seconds", "platform_call_hold_seconds"),
        *("platform_call_settle_seconds",),
    )
    assert [rise.of(f"{name}_count") for name in seconds] == [1] * 5
    total, first, own, hold, settle = (rise.of(f"{name}_sum") for name in seconds)
    assert 0 < first < total
    assert own == pytest.approx(hold + settle, abs=1e-6)
    assert own < total
    call = {"method": "POST", "route": "/v1/chat/completions", "status": "2xx"}
    assert rise.of("platform_requests_total", **call) == 1
    assert rise.of("platform_batch_size_sum", batch="holds") == 1
    assert rise.of("platform_batch_size_sum", batch="endings") == 1


@pytest.mark.parametrize("model", [IN_PLAN, BALANCE_ONLY])
def test_money_is_what_the_settlement_says(watched: Watched, alice: Customer, model: str) -> None:
    before = watched.read()
    alice.chat(steer={"tokens": 40}, model=model)
    rise, charge = risen(watched, before), alice.charge()
    shown = {
        "cost": rise.of("platform_cost_usd_total", model=model),
        "plan": rise.of("platform_billed_usd_total", model=model, payer="plan"),
        "balance": rise.of("platform_billed_usd_total", model=model, payer="balance"),
        "borne": rise.of("platform_borne_usd_total", model=model),
        "shortfall": rise.of("platform_shortfall_usd_total", model=model),
    }
    assert charge.cost > 0
    assert {name: round(usd * NUSD_PER_USD) for name, usd in shown.items()} == {
        "cost": charge.cost,
        "plan": charge.charge_plan,
        "balance": charge.charge_balance,
        "borne": 0,
        "shortfall": 0,
    }


def test_a_free_message_and_its_title_are_borne_by_the_platform(
    watched: Watched, alice: Customer, simulator: RunningSimulator
) -> None:
    bob = new_speaker(alice.http, simulator, name="bob", plan="free", balance_usd=0)
    before = watched.read()
    bob.send(bob.begin())
    rise = risen(watched, before, calls=2)
    charges = Charge.objects.filter(account=bob.user, status="settled")
    cost = sum(charge.cost for charge in charges)
    assert (len(charges), cost > 0) == (2, True)
    assert round(rise.of("platform_borne_usd_total") * NUSD_PER_USD) == cost
    assert round(rise.of("platform_cost_usd_total") * NUSD_PER_USD) == cost
    assert rise.of("platform_billed_usd_total") == 0


def test_a_call_that_fails_before_any_output(watched: Watched, alice: Customer) -> None:
    before = watched.read()
    assert alice.chat(steer={"status": 500}).status_code == 502
    rise = risen(watched, before)
    ended = {"kind": "chat", "status": "released", "code": "upstream_error"}
    assert rise.of("platform_calls_total", **OPENAI, **ended) == 1
    assert rise.of("platform_provider_retries_total", provider="openai") == 2
    assert rise.of("platform_provider_faults_total") == 0
    assert rise.of("platform_cost_usd_total") == rise.of("platform_tokens_total") == 0
    assert rise.of("platform_v1_refusals_total", code="upstream_error") == 1
    assert rise.of("platform_requests_total", status="5xx") == 1


def test_a_call_that_nobody_can_pay(
    watched: Watched, alice: Customer, simulator: RunningSimulator
) -> None:
    bob = new_customer(alice.http, watched.web, simulator, name="bob", balance_usd=0)
    before = watched.read()
    refused = bob.chat(model=BALANCE_ONLY)
    assert refused.status_code == 402
    rise, code = risen(watched, before), refused.json()["error"]["code"]
    ended = {"model": BALANCE_ONLY, "status": "refused", "code": code}
    assert rise.of("platform_calls_total", **ended) == 1
    # Its provider was not called: it has no time.
    assert rise.of("platform_call_seconds_count") == 0


def test_a_request_above_a_limit(watched: Watched, alice: Customer) -> None:
    rate_window.use_up(alice.key)
    before = watched.read()
    assert alice.chat().status_code == 429
    rise = Rise(before, watched.read())
    assert rise.of("platform_limit_refusals_total", limit="key") == 1
    assert rise.of("platform_v1_refusals_total", code="rate_limit_exceeded") == 1
    assert rise.of("platform_calls_total") == 0


@pytest.mark.parametrize(
    ("steering", "reason"),
    [
        ({"status": 401}, "key"),
        ({"status": 403}, "key"),
        ({"status": 429, "code": "insufficient_quota"}, "quota"),
    ],
)
def test_a_dead_key_and_an_exhausted_quota_have_a_metric_of_their_own(
    watched: Watched, alice: Customer, steering: dict[str, Any], reason: str
) -> None:
    before = watched.read()
    assert alice.chat(steer=steering).status_code == 502
    rise = risen(watched, before)
    assert rise.of("platform_provider_faults_total", provider="openai", reason=reason) == 1
    assert rise.of("platform_provider_faults_total") == 1


def test_faults_that_never_were_are_shown_as_none(watched: Watched) -> None:
    """A series that began with the first fault would show no rise."""
    series = watched.read().series
    for provider in ("openai", "anthropic", "google"):
        for reason in ("key", "quota", "model"):
            labels = frozenset({("provider", provider), ("reason", reason)})
            assert ("platform_provider_faults_total", labels) in series


def test_a_circuit_and_what_operators_have_switched_off(watched: Watched, alice: Customer) -> None:
    def value(name: str, **labels: str) -> float:
        return watched.read().value(f"platform_{name}", **labels)

    assert value("circuit_open", **OPENAI) == 0
    with opened("openai", IN_PLAN):
        wait_for(lambda: value("circuit_open", **OPENAI) == 1)
    wait_for(lambda: value("circuit_open", **OPENAI) == 0)
    switch_provider(name="google", is_off=True)
    switch_model(name="openai", model=IN_PLAN, is_off=True)
    try:
        wait_for(lambda: value("provider_off", provider="google", model="") == 1)
        wait_for(lambda: value("provider_off", **OPENAI) == 1)
    finally:
        switch_provider(name="google", is_off=False)
        switch_model(name="openai", model=IN_PLAN, is_off=False)
    wait_until_all_is_on(watched)


@pytest.mark.parametrize("running", [running_web, running_worker])
def test_a_new_process_shows_the_health_of_providers_before_its_first_call(
    committed: None,
    watched: Watched,
    simulator: RunningSimulator,
    running: Callable[..., AbstractContextManager[object]],
) -> None:
    port = free_port()

    def shows(name: str, **labels: str) -> bool:
        return scrape(port).value(f"platform_{name}", **labels) == 1

    switch_provider(name="google", is_off=True)
    try:
        with opened("openai", IN_PLAN), running(simulator, METRICS_PORT=str(port)):
            wait_for(lambda: shows("provider_off", provider="google", model=""))
            wait_for(lambda: shows("circuit_open", **OPENAI))
            assert scrape(port).total("platform_calls_total") == 0
    finally:
        switch_provider(name="google", is_off=False)
    wait_until_all_is_on(watched)


def wait_until_all_is_on(watched: Watched) -> None:
    """The process hears a little later of what is switched on again, and closed; until then it
    refuses calls of other tests."""
    wait_for(lambda: watched.read().total("platform_provider_off") == 0)
    wait_for(lambda: watched.read().total("platform_circuit_open") == 0)


# --- Requests, sockets and turns ----------------------------------------------------------------


def test_requests_of_api_by_the_name_of_their_route(watched: Watched, alice: Customer) -> None:
    headers = authorization(alice.user)
    before = watched.read()
    assert alice.http.get(ME, headers=headers).status_code == 200
    assert alice.http.get(f"/api/conversations/{uuid7()}", headers=headers).status_code == 404
    assert alice.http.get(f"/api/conversations/{uuid7()}", headers=headers).status_code == 404
    after = watched.read()
    rise = Rise(before, after)
    assert rise.of("platform_requests_total", method="GET", route=ME[1:], status="2xx") == 1
    assert rise.of("platform_request_seconds_count", route=ME[1:]) == 1
    routes = {
        dict(labels)["route"] for name, labels in after.series if name == "platform_requests_total"
    }
    rises = {
        route: rise.of("platform_requests_total", method="GET", route=route, status="4xx")
        for route in routes
        if route.startswith("api/conversations/")
    }
    assert [(route.count("<"), by) for route, by in rises.items() if by] == [(1, 2)]


def test_odd_paths_models_methods_and_codes_add_no_series(
    watched: Watched, alice: Customer
) -> None:
    def ask(number: int) -> None:
        alice.http.get(f"/api/odd-{number}")
        alice.http.get(f"/v1/odd-{number}")
        alice.http.get(f"/v1/models/odd-{number}")
        alice.http.request(f"ODD{number}", "/v1/models")

    def call(number: int) -> None:
        assert alice.chat(model=f"odd-{number}").status_code == 404
        assert alice.chat(steer={"status": 400, "code": f"odd_{number}"}).status_code == 400

    for number in range(1, 3):
        ask(number)
        call(number)
    known = watched.read().series
    for number in range(3, 300):
        ask(number)
    for number in range(3, 50):
        call(number)
    assert watched.read().series - known == set()


def test_sockets_and_the_way_of_an_event(watched: Watched, alice: Customer) -> None:
    url = f"{watched.web.url.replace('http', 'ws')}/api/ws?token={access_token_of(alice.user)}"
    headers = authorization(alice.user)
    before = watched.read()
    with connect(url) as own:
        assert watched.read().value("platform_open_sockets") == 1
        created = alice.http.post("/api/conversations", json={}, headers=headers)
        assert created.status_code == 201, created.text
        while json.loads(own.recv(timeout=10)).get("type") != "conversation.created":
            pass
        wait_for(
            lambda: Rise(before, watched.read()).of("platform_event_delivery_seconds_count") == 1
        )
        assert Rise(before, watched.read()).of("platform_event_delivery_seconds_sum") < 10
    wait_for(lambda: watched.read().value("platform_open_sockets") == 0)
    with connect(f"{url}&after_seq=0") as own:
        own.recv(timeout=10)
    # A replay is not late.
    assert Rise(before, watched.read()).of("platform_event_delivery_seconds_count") == 1


@pytest.mark.usefixtures("committed")
def test_it_answers_when_all_turns_and_all_calls_are_taken(simulator: RunningSimulator) -> None:
    port = free_port()
    full = {"DATABASE_POOL_SIZE": "1", "MAX_OPEN_CALLS": "2", "METRICS_PORT": str(port)}
    with (
        running_web(simulator, **full) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
        ThreadPoolExecutor(12) as threads,
    ):
        alice = new_customer(http, web, simulator)
        slow = {"tokens": 20, "delay_ms": 200}
        streams = [threads.submit(alice.chat, steer=slow, stream=True) for _ in range(2)]
        wait_for(lambda: scrape(port).value("platform_open_streams", interface="v1") == 2)
        assert scrape(port).value("platform_open_calls") == 2
        assert alice.chat().status_code == 503
        refused = {"status": "refused", "code": "service_unavailable"}
        assert scrape(port).value("platform_calls_total", kind="chat", **OPENAI, **refused) == 1
        headers = authorization(alice.user)
        with psycopg.connect(database_url()) as other:
            other.execute("LOCK TABLE accounts_user IN ACCESS EXCLUSIVE MODE")
            requests = [threads.submit(http.get, QUEUED, headers=headers) for _ in range(6)]
            wait_for(lambda: scrape(port).value("platform_turns_waiting", queue="requests") == 5)
            assert scrape(port).value("platform_pool_connections", pool="django") == 1
            other.rollback()
        assert [request.result().status_code for request in requests] == [200] * 6
        assert [stream.result().status_code for stream in streams] == [200] * 2
        wait_for(lambda: scrape(port).value("platform_open_calls") == 0)
        after = scrape(port)
        assert after.value("platform_open_streams", interface="v1") == 0
        assert after.value("platform_turns_waiting", queue="requests") == 0
        assert after.value("platform_turn_wait_seconds_count", queue="requests") == 6
        assert after.value("platform_pool_requests_total", pool="calls") > 0
