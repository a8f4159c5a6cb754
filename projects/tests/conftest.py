"""Fixtures: the service with workers behind it, and those who have runs there."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from integrations.githosts.tests.hosted import Hosted
from integrations.githosts.types import HostKind
from projects.tests.developer import FILES, Developer
from projects.tests.principal import Principal, new_principal
from projects.tests.reviewer import FILES as REVIEWED
from projects.tests.reviewer import Reviewer
from simulator.process import RunningSimulator
from tests.service import Web
from tests.worker import Worker, running_worker

NewPrincipal = Callable[..., Principal]


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
def principal(
    committed: None, http: httpx.Client, web: Web, worker: Worker, simulator: RunningSimulator
) -> NewPrincipal:
    """Makes people with runs; keywords as in `new_principal`."""

    def make(**options: object) -> Principal:
        return new_principal(http, web, simulator, **options)  # type: ignore[arg-type]

    return make


@pytest.fixture(params=list(HostKind))
def developer(
    request: pytest.FixtureRequest, principal: NewPrincipal, simulator: RunningSimulator
) -> Developer:
    """Alice with a repository, at each of the hosts."""
    hosted = Hosted.create(simulator, HostKind(request.param), files=FILES)
    return Developer(principal(), hosted)


@pytest.fixture
def on_github(principal: NewPrincipal, simulator: RunningSimulator) -> Developer:
    return Developer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=FILES))


@pytest.fixture(params=list(HostKind))
def reviewer(
    request: pytest.FixtureRequest, principal: NewPrincipal, simulator: RunningSimulator
) -> Reviewer:
    return Reviewer(principal(), Hosted.create(simulator, HostKind(request.param), files=REVIEWED))


@pytest.fixture
def reviewer_on_github(principal: NewPrincipal, simulator: RunningSimulator) -> Reviewer:
    return Reviewer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=REVIEWED))
