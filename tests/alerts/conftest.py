"""A service that is watched, and somebody who uses it."""

from collections.abc import Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker, Settings

from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from tests.alerts.watched import Watched, assert_goes_out, running_watched


@pytest.fixture(scope="module")
def watched(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    with django_db_blocker.unblock(), running_watched(simulator, folder) as watched:
        yield watched


@pytest.fixture
def quiet(committed: None, watched: Watched, settings: Settings) -> Iterator[None]:
    """Nothing fires before the test, and nothing a while after it."""
    settings.REDIS_URL = watched.redis.url
    assert watched.firing == set()
    yield
    assert_goes_out(watched)


@pytest.fixture
def alice(quiet: None, watched: Watched, simulator: RunningSimulator) -> Iterator[Customer]:
    with httpx.Client(base_url=watched.web.url, timeout=30) as http:
        yield new_customer(http, watched.web, simulator)
