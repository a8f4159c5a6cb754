"""Fixtures: those who chat with the running service."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from conversations.tests.speaker import Speaker, new_speaker
from simulator.process import RunningSimulator
from tests.service import Web, running_web

NewSpeaker = Callable[..., Speaker]


@pytest.fixture(scope="session")
def http(web: Web) -> Iterator[httpx.Client]:
    """One client for all tests: making one takes longer than most calls."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


@pytest.fixture(scope="module")
def other_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[httpx.Client]:
    """Another web process, which looks at the tokens of those who follow more often, and lets two
    of a user's follow at a time."""
    with (
        django_db_blocker.unblock(),
        running_web(simulator, SOCKET_TICK_SECONDS="1", MAX_SOCKETS_PER_USER="2") as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield http


@pytest.fixture
def speaker(committed: None, http: httpx.Client, simulator: RunningSimulator) -> NewSpeaker:
    """Makes people who chat; keywords as in `new_speaker`."""

    def make(**options: object) -> Speaker:
        return new_speaker(http, simulator, **options)  # type: ignore[arg-type]

    return make
