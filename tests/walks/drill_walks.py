"""The walks of docs/architecture.md are in the order in which requests enter the files.

With `-rP` it prints each walk whole: `make drills ARGS="tests/walks -rP"`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from council.tests.owner import MODELS
from devserver.paths import ROOT
from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.documents import rows, section
from tests.personas import access_token_of
from tests.service import Web, running_web
from tests.walks.walk import Calls, walk_of

Request = tuple[str, str, dict[str, Any]]

# The client reads the stream before the reply ends.
SLOW = 'How are you?\n@sim {"delay_ms": 200}'
SIMPLEST: dict[str, Request] = {
    "/v1": ("GET", "/v1/models", {}),
    "/api": ("GET", "/api/auth/me", {}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walks")


@pytest.fixture(scope="module")
def traced_web(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    folder: Path,
) -> Iterator[Web]:
    """A web process that traces the requests which name a walk."""
    application = "tests.walks.traced_application:application"
    with (
        django_db_blocker.unblock(),
        running_web(simulator, application=application, WALKS_FOLDER=str(folder)) as web,
    ):
        yield web


@pytest.fixture
def alice(committed: None, traced_web: Web, simulator: RunningSimulator) -> Iterator[Customer]:
    with httpx.Client(base_url=traced_web.url, timeout=30) as http:
        yield new_customer(http, traced_web, simulator)


def traced(alice: Customer, folder: Path, request: Request) -> Calls:
    """The calls of a request, whose answer is read to its end. It is sent once before, so that
    nothing is loaded for the first time."""
    method, path, body = request
    trace = folder / path.strip("/").replace("/", "-")
    token = alice.raw_key if path.startswith("/v1") else access_token_of(alice.user)
    headers = {"Authorization": f"Bearer {token}"}
    for more in ({}, {"x-walk": trace.name}):
        response = alice.http.request(method, path, json=body or None, headers={**headers, **more})
        assert response.is_success, response.text
    wait_for(trace.exists)
    calls: Calls = json.loads(trace.read_text())
    trace.unlink()
    return calls


def request_of(walk: str, alice: Customer) -> Request:
    match walk:
        case "a `/v1` call":
            return "POST", "/v1/chat/completions", alice.body(stream=True)
        case "a message":
            token = {"Authorization": f"Bearer {access_token_of(alice.user)}"}
            created = alice.http.post("/api/conversations", json={}, headers=token)
            path = f"/api/conversations/{created.json()['id']}/messages"
            return "POST", path, {"content": SLOW, "stream": True}
        case "a card":
            return "POST", "/api/council/sessions", {"prompt": "Hello?", "models": MODELS[:2]}
        case _:
            return "POST", "/api/project/sessions", {"prompt": "Write.", "budget_usd": 1}


@pytest.mark.parametrize("walk", ["a `/v1` call", "a message", "a card", "a step of a project run"])
def test_a_request_enters_the_files_of_its_walk_in_this_order(
    walk: str, alice: Customer, folder: Path
) -> None:
    request = request_of(walk, alice)
    calls = traced(alice, folder, request)
    simplest = next(each for start, each in SIMPLEST.items() if request[1].startswith(start))

    found = walk_of(calls, traced(alice, folder, simplest))
    whole = [f"{walk}: {len(found.files)} files, {len(found.climbs)} climbs", *found.files]
    whole += [f"from {caller} back to {called}" for caller, called in found.climbs]
    sys.stdout.write("\n  ".join(whole))

    stated = [row[1] for row in rows(section(ROOT / "docs/architecture.md", f"Walk: {walk}"))]
    entered = list(dict.fromkeys(called for _, called in calls))
    # The database and the workers carry out the others.
    of_the_web = [name for name in stated if name in entered]
    assert of_the_web == sorted(of_the_web, key=entered.index)
    assert len(of_the_web) >= 4
