"""Fixtures: somebody who uses the service through a client that nobody here wrote."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from accounts.features import KEY_FEATURES
from content.tests.writing import write
from devserver.ports import LOOPBACK, free_port
from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from studios.tests.artist import Artist, new_artist
from tests.clients.environments import environment, finished
from tests.service import Web, running_web
from tests.worker import Worker

Run = Callable[..., str]
Finish = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def page_port() -> int:
    """Of the origin of the pages that browsers open here."""
    return free_port()


@pytest.fixture(scope="session")
def web(
    page_port: int,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[Web]:
    """A web process that these pages may call."""
    origin = f"http://{LOOPBACK}:{page_port}"
    with django_db_blocker.unblock(), running_web(simulator, CORS_ALLOWED_ORIGINS=origin) as web:
        yield web


@pytest.fixture
def alice(committed: None, web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    """On Max, with 10 USD. Afterwards she was billed exactly what the providers did for her."""
    with httpx.Client(base_url=web.url) as http:
        alice = new_customer(http, web, simulator)
        yield alice
    _assert_billed_as_done(alice, alice.provider_calls())


@pytest.fixture
def agent(alice: Customer) -> Customer:
    """Alice, whose key has all features."""
    alice.key.features = [*KEY_FEATURES]
    alice.key.save(update_fields=["features"])
    return alice


@pytest.fixture
def unmarked(committed: None, web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    """The same for a program that asks questions of its own: all calls meanwhile are hers."""
    before = len(simulator.calls())
    with httpx.Client(base_url=web.url) as http:
        alice = new_customer(http, web, simulator, features=KEY_FEATURES)
        yield alice
    _assert_billed_as_done(alice, simulator.calls()[before:])


@pytest.fixture
def artist(
    committed: None, web: Web, worker: Worker, simulator: RunningSimulator
) -> Iterator[Artist]:
    """Alice in the studios, with workers behind them. Her money is right afterwards."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        artist = new_artist(http, simulator)
        yield artist
        artist.check_money()


@pytest.fixture
def finish(alice: Customer, tmp_path: Path) -> Finish:
    """Runs a program as alice until it ends: its command line, and what else is in its
    environment. It starts in a folder of its own, which is its home too."""

    def finish(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        variables = environment(alice, home=tmp_path) | variables
        return finished(*command, folder=tmp_path, **variables)

    return finish


@pytest.fixture
def run(finish: Finish) -> Run:
    """The same for a program that succeeds: returns what alice reads on her screen."""

    def run(*command: str | Path, **variables: str) -> str:
        done = finish(*command, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def _assert_billed_as_done(customer: Customer, journal: list[dict[str, Any]]) -> None:
    """What was billed, to the token and the picture, is what the providers' own journal has. A call
    that was stopped is estimated, of what was read: its prose has a token for three bytes at
    most."""
    paid = [charge for charge in customer.charges() if charge.funding == "customer"]
    charges = [charge for charge in paid if charge.status != "released"]
    calls = [call for call in journal if call["outcome"] != "refused"]
    written = [call for call in calls if call["kind"] != "images"]
    assert {charge.status for charge in charges} <= {"settled"}
    billed = sum(charge.tokens_out for charge in charges)
    emitted = sum(call["tokens_emitted"] + _reasoned(call) for call in written)
    was_stopped = any(call["outcome"] == "client_gone" for call in calls)
    most = sum(call["bytes_emitted"] // 3 for call in written)
    assert billed == emitted or (was_stopped and 0 < billed <= most)
    assert sum(charge.images for charge in charges) == sum(call["images_emitted"] for call in calls)
    # Of a call that broke no provider says what went in.
    if all(call["outcome"] == "completed" for call in calls):
        assert sum(charge.tokens_in for charge in charges) == sum(
            call["prompt_tokens"] for call in written
        )


def _reasoned(call: dict[str, Any]) -> int:
    """The tokens of reasoning that a call is billed for: of one that ended also hidden ones."""
    is_whole = call["outcome"] == "completed"
    reasoned: int = call["reasoning_tokens" if is_whole else "reasoning_emitted"]
    return reasoned


@pytest.fixture(scope="module")
def developers_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process at which users top up and choose a plan themselves, as developers have it."""
    with django_db_blocker.unblock(), running_web(simulator, SELF_SERVICE_TOPUP="1") as web:
        yield web


@pytest.fixture
def published(committed: None) -> Iterator[str]:
    """The slug of an entry that everybody reads."""
    entry = write(f"sea-{uuid4().hex}")
    yield entry.slug
    entry.delete()
