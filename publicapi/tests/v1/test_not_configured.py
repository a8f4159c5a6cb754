"""A service that has the key of no provider."""

from collections.abc import Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import Customer, new_customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.test_error_table import Ask, each_call
from simulator.process import RunningSimulator
from tests.service import Web, running_web


@pytest.fixture(scope="module")
def bare_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process that no provider is configured for."""
    with django_db_blocker.unblock(), running_web(simulator, SIMULATED_PROVIDERS="") as web:
        yield web


@pytest.fixture
def alice(committed: None, bare_web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    """On Max, with 10 USD, its customer."""
    with wire.client(bare_web.url) as http:
        yield new_customer(http, bare_web, simulator)


@each_call
def test_a_call_of_any_kind_is_refused_before_any_hold(alice: Customer, ask: Ask) -> None:
    refusal(ask(alice), 503, "provider_unavailable")
    assert (alice.charges(), alice.provider_calls()) == ([], [])
    alice.assert_nothing_billed()


def test_the_catalog_and_the_usage_report_are_answered(alice: Customer) -> None:
    for path in ("/v1/models", "/v1/usage"):
        response: httpx.Response = alice.get(path)
        assert response.status_code == 200
