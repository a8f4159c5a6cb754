"""Fixtures for every test: a seeded database, its people, and committed data for money.

Most tests run in a transaction that is rolled back. What moves money runs on several connections
at once, so it commits (fixture `committed`), on accounts of its own. Never `transactional_db`: it
would empty the seeded database.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from hypothesis import settings
from pytest_django import DjangoDbBlocker, Settings
from rest_framework.fields import Field, empty, get_attribute
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import sessions
from accounts.types import SignedIn
from ai.provider_health import services as health
from ai.providers.config import SIMULATED_BY_DEFAULT, from_environ
from billing.services.reconciliation import find_violations
from billing.tests.bank import expire_what_nobody_ends
from devserver.pytest_suite import is_rolled_back
from simulator.process import RunningSimulator
from simulator.process import running as running_simulator
from tests import declared_events, seeded_database
from tests.locks import count_deadlocks
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.worker import Worker, running_worker

PASSWORD = "correct horse battery staple"

# httpx reads all trusted certificates for each client: 25 ms of CPU. Nothing here speaks TLS.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = os.devnull

# The machine may stand still for longer than an example may take by default.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_modify_db_settings: None,
    django_db_blocker: DjangoDbBlocker,
) -> None:
    """The worker's own copy of the seeded database, thrown away with its server."""
    with django_db_blocker.unblock():
        seeded_database.create()


@pytest.fixture(scope="module", autouse=True)
def _health_is_not_shared_any_more() -> Iterator[None]:
    """A thread that a test of the module has begun would read the switches from the database in
    tests that have none, and the stores end after the tests."""
    yield
    if health.get_health.cache_info().currsize:
        health.close()
        health.get_health.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _answers_have_all_fields() -> Iterator[None]:
    """REST framework leaves a field out where an object has no attribute of that name. In tests
    this is an error, which names both."""

    def strict(field: Field[Any, Any, Any, Any], instance: object) -> object:
        if field.read_only and field.default is empty and not field.allow_null:
            return get_attribute(instance, field.source_attrs)
        return lenient(field, instance)

    lenient = Field.get_attribute
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Field, "get_attribute", strict)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """A test that runs into its time limit may leave its transaction open and broken: without a new
    connection all later tests would fail with it."""
    try:
        yield
    finally:
        if connection.needs_rollback:
            connection.in_atomic_block = connection.needs_rollback = False
            connection.savepoint_ids.clear()
            connection.atomic_blocks.clear()
            connection.close()


@pytest.fixture
def makes_up_events() -> bool:
    """Overridden where tests write events that no app writes."""
    return False


@pytest.fixture(autouse=True)
def _rolled_back_events(request: pytest.FixtureRequest, makes_up_events: bool) -> Iterator[None]:
    """Events that are written in a transaction which is rolled back are as the apps declare."""
    if makes_up_events or not is_rolled_back(request.node):
        yield
        return
    request.getfixturevalue("db")
    begun = declared_events.now()
    yield
    if not connection.needs_rollback:
        declared_events.check(request.node.nodeid, declared_events.written_since(begun))


@pytest.fixture
def committed(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    makes_up_events: bool,
) -> Iterator[None]:
    """The database without a transaction around the test. After it the invariants of money hold,
    no deadlock has happened, and the events that were written are as the apps declare."""
    with django_db_blocker.unblock():
        begun, deadlocks = declared_events.now(), count_deadlocks()
        yield
        written = [] if makes_up_events else declared_events.written_since(begun)
        violations = find_violations()
        left = expire_what_nobody_ends()
        deadlocks = count_deadlocks() - deadlocks
        connection.close()
    assert violations == []
    assert left == [], "the test leaves charges held"
    assert deadlocks == 0, "see the order of docs/locking.md"
    if not makes_up_events:
        declared_events.check(request.node.nodeid, written)


@pytest.fixture(scope="session")
def simulator(django_db_setup: None) -> Iterator[RunningSimulator]:
    """The providers' stand-in; each test marks its own calls. Who has it runs processes on the
    database, which is there whichever test comes first."""
    with running_simulator() as simulator:
        yield simulator


@pytest.fixture
def providers(settings: Settings) -> None:
    """In this process the providers that the service has. Nobody calls them from here."""
    settings.PROVIDERS = from_environ(
        {}, simulated=SIMULATED_BY_DEFAULT, simulator_url="http://127.0.0.1:9"
    )


@pytest.fixture(scope="session")
def web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A running web process over this database and this simulator."""
    with django_db_blocker.unblock(), running_web(simulator) as web:
        yield web


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    """A Redis of the module's own, which its tests may stop."""
    own = OwnRedis(tmp_path_factory.mktemp("redis"))
    yield own
    own.stop()


@pytest.fixture(scope="module")
def web_on_own_redis(
    own_redis: OwnRedis,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[Web]:
    """A web process on `own_redis`."""
    with django_db_blocker.unblock(), running_web(simulator, REDIS_URL=own_redis.url) as web:
        yield web


@pytest.fixture(scope="module")
def worker(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Worker]:
    """A running worker, which does whatever job the tests of the module leave queued."""
    with django_db_blocker.unblock(), running_worker(simulator) as worker:
        yield worker


@dataclass
class Persona:
    """Signed up like anybody else, on the free plan: a user, their tokens, and an HTTP
    client that sends the access token."""

    user: User
    signed_in: SignedIn
    client: APIClient
    password: str = PASSWORD


def persona(name: str) -> Persona:
    signed_in = sessions.sign_up(email=f"{name}@example.com", password=PASSWORD, name=name.title())
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {signed_in.access_token}")
    return Persona(signed_in.user, signed_in, client)


@pytest.fixture
def visitor() -> APIClient:
    """A client without a session."""
    return APIClient()


@pytest.fixture
def alice(db: None) -> Persona:
    return persona("alice")


@pytest.fixture
def bob(db: None) -> Persona:
    return persona("bob")


@pytest.fixture
def charlie(db: None) -> Persona:
    return persona("charlie")
