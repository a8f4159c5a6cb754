"""Fixtures: those who chat with the running service."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from conversations.tests.speaker import Speaker, new_speaker
from simulator.process import RunningSimulator
from tests.service import Web

NewSpeaker = Callable[..., Speaker]


@pytest.fixture(scope="session")
def http(web: Web) -> Iterator[httpx.Client]:
    """One client for all tests: making one takes longer than most calls."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


@pytest.fixture
def speaker(committed: None, http: httpx.Client, simulator: RunningSimulator) -> NewSpeaker:
    """Makes people who chat; keywords as in `new_speaker`."""

    def make(**wishes: object) -> Speaker:
        return new_speaker(http, simulator, **wishes)  # type: ignore[arg-type]

    return make
