"""Fixtures: a client of the running service, its customers, and a provider that does as told."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from common.tests.upstream import Answer, Upstream
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import Customer, new_customer
from publicapi.tests.v1.scripted import HELLO, Scripted, running_scripted
from simulator.process import RunningSimulator
from tests.service import Web

NewCustomer = Callable[..., Customer]


@pytest.fixture(scope="session")
def http(web: Web) -> Iterator[httpx.Client]:
    """One client for all tests: making one takes longer than most calls. It checks every answer
    against the published interface."""
    with wire.client(web.url) as http:
        yield http


@pytest.fixture
def customer(
    committed: None, http: httpx.Client, web: Web, simulator: RunningSimulator
) -> NewCustomer:
    """Makes customers; keywords as in `new_customer`."""

    def make(**options: object) -> Customer:
        return new_customer(http, web, simulator, **options)  # type: ignore[arg-type]

    return make


@pytest.fixture
def alice(customer: NewCustomer) -> Customer:
    """On Max, with 10 USD and a key without limits of its own."""
    return customer()


@pytest.fixture(scope="session")
def scripted(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Scripted]:
    """A running service whose provider is `upstream`."""
    with django_db_blocker.unblock(), running_scripted(simulator) as scripted:
        yield scripted


@pytest.fixture
def upstream(scripted: Scripted) -> Upstream:
    """The provider, not yet called, which says hello until the test says otherwise."""
    upstream = scripted.upstream
    upstream.calls.clear()
    upstream.answer = Answer([*HELLO])
    return upstream
