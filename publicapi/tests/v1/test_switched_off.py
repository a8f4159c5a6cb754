"""A provider, or one of its models, that an operator has switched off."""

import time
from collections.abc import Iterator
from functools import partial

import pytest

from ai.provider_health import exchange, switches
from ai.provider_health.models import Provider
from billing.selectors.entitlements import get_entitlements
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import BALANCE_ONLY, Customer, new_customer
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.service import running_web

PROVIDER = "moonshot"  # of BALANCE_ONLY


@pytest.fixture
def switched_on_again(committed: None) -> Iterator[None]:
    yield
    Provider.objects.filter(pk=PROVIDER).update(is_off=False, models_off=[])
    switches.switch_provider(name=PROVIDER, is_off=True)
    switches.switch_provider(name=PROVIDER, is_off=False)
    # The next test may call it, in a process that hears of this within a round.
    time.sleep(2 * exchange.ROUND_SECONDS)


def is_refused(alice: Customer) -> bool:
    return alice.chat(model=BALANCE_ONLY).status_code == 503


@pytest.mark.parametrize(
    "switch",
    [
        partial(switches.switch_provider, name=PROVIDER),
        partial(switches.switch_model, name=PROVIDER, model=BALANCE_ONLY),
    ],
)
def test_calls_are_refused_within_a_round_and_served_again(
    switched_on_again: None, alice: Customer, switch: partial[bool]
) -> None:
    wait_for(lambda: not is_refused(alice))
    assert switch(is_off=True)
    wait_for(lambda: is_refused(alice))
    charges, asked = len(alice.charges()), len(alice.provider_calls())

    response = alice.chat(model=BALANCE_ONLY)
    refusal(response, 503, "provider_unavailable")
    assert "retry-after" not in response.headers
    assert response.headers["x-should-retry"] == "false"
    assert (len(alice.charges()), len(alice.provider_calls())) == (charges, asked)
    assert alice.chat().status_code == 200, "other providers are served"

    assert switch(is_off=False)
    wait_for(lambda: not is_refused(alice))
    assert exchange.ROUND_SECONDS < 1


def test_a_new_process_refuses_from_its_first_call_on(
    switched_on_again: None, simulator: RunningSimulator
) -> None:
    switches.switch_provider(name=PROVIDER, is_off=True)
    with running_web(simulator) as web, wire.client(web.url) as http:
        alice = new_customer(http, web, simulator)
        refusal(alice.chat(model=BALANCE_ONLY), 503, "provider_unavailable")
        assert alice.provider_calls() == []


def test_without_redis_the_database_is_read(
    switched_on_again: None, simulator: RunningSimulator
) -> None:
    with (
        running_web(simulator, REDIS_URL="redis://127.0.0.1:9/0") as web,
        wire.client(web.url) as http,
    ):
        alice = new_customer(http, web, simulator)
        assert not is_refused(alice)
        switches.switch_provider(name=PROVIDER, is_off=True)
        wait_for(lambda: is_refused(alice))


def test_a_web_app_is_told_that_the_model_cannot_be_called(
    switched_on_again: None, providers: None, alice: Customer
) -> None:
    def is_callable() -> bool:
        models = get_entitlements(alice.user).models
        return next(each.callable for each in models if each.model == BALANCE_ONLY)

    wait_for(is_callable)
    switches.switch_provider(name=PROVIDER, is_off=True)
    wait_for(lambda: not is_callable())
