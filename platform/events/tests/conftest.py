"""A service whose sockets are looked after every second, not every twenty."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from simulator.process import RunningSimulator
from tests.service import Web, running_web


@pytest.fixture(scope="session")
def quick_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    with django_db_blocker.unblock(), running_web(simulator, SOCKET_TICK_SECONDS="1") as web:
        yield web


@pytest.fixture
def makes_up_events() -> bool:
    """Streams are tested with events that no app writes."""
    return True
