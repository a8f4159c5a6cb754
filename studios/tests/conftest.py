"""Fixtures: the service with workers behind it, and the people who use the studios there."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from simulator.process import RunningSimulator
from studios.tests.artist import Artist, new_artist
from tests.service import Web
from tests.worker import Worker, running_worker

NewArtist = Callable[..., Artist]


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
def artist(
    committed: None, http: httpx.Client, worker: Worker, simulator: RunningSimulator
) -> NewArtist:
    """Makes people who use the studios; keywords as in `new_artist`."""

    def make(**options: object) -> Artist:
        return new_artist(http, simulator, **options)  # type: ignore[arg-type]

    return make
