"""Fixtures: the service with workers behind it, and those who hold councils there."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from council.tests.owner import Owner, new_owner
from simulator.process import RunningSimulator
from tests.service import Web
from tests.worker import Worker, running_worker

NewOwner = Callable[..., Owner]


@pytest.fixture(scope="package")
def worker(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Worker]:
    """A running worker over this database and this simulator; it would do other packages' jobs."""
    with django_db_blocker.unblock(), running_worker(simulator) as worker:
        yield worker


@pytest.fixture(scope="session")
def http(web: Web) -> Iterator[httpx.Client]:
    """One client for all tests: making one takes longer than most calls."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


@pytest.fixture
def owner(
    committed: None, http: httpx.Client, web: Web, worker: Worker, simulator: RunningSimulator
) -> NewOwner:
    """Makes owners of councils; keywords as in `new_owner`."""

    def make(**options: object) -> Owner:
        return new_owner(http, web, simulator, **options)  # type: ignore[arg-type]

    return make
