"""Clients that follow a council or a project run as the documentation recommends, while the network
cuts their connections a hundred times: they end with exactly the log."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from accounts.models import User
from common.ids import uuid7
from events import selectors, services
from events.types import NewEvent
from projects.models import Attempt
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.chaos.projects import Project
from tests.chaos.proxy import CuttingProxy, Proxy
from tests.clients import page
from tests.clients.following import FOLLOWERS, TIMEOUT, Stream, followed_in_python
from tests.personas import access_token_of, new_user
from tests.service import Web, running_web
from tests.worker import running_worker

CUTS = 100
# Seconds between two events of the writer: about as many as a council of eight cards has.
PAUSE = 0.03

# Stream, folder of its own: what the client has seen.
Client = Callable[[Stream, Path], dict[str, Any]]


@pytest.fixture
def in_a_page(page_port: int) -> Client:
    """A page of another origin, in a real browser."""

    def in_a_page(stream: Stream, folder: Path) -> dict[str, Any]:
        task = {
            "appURL": stream.app_url,
            "session": str(stream.session_id),
            "lastType": stream.last_type,
            "token": stream.token,
        }
        profile = folder / "profile"
        return page.opened(FOLLOWERS, "page.html", task, profile=profile, port=page_port)

    return in_a_page


@pytest.fixture(
    params=[
        "in_python",
        pytest.param(
            "in_a_page",
            marks=page.needs_browser,
        ),
    ]
)
def client(request: pytest.FixtureRequest, in_a_page: Client) -> Client:
    return followed_in_python if request.param == "in_python" else in_a_page


@pytest.mark.parametrize("makes_up_events", [True])
def test_a_hundred_cuts_lose_nothing_and_repeat_nothing(
    committed: None, web: Web, client: Client, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="pro")
    session_id = _new_stream(alice)

    with CuttingProxy(web.port, cuts=CUTS) as proxy, _written(session_id, until=proxy):
        seen = client(_council(proxy, session_id, alice), tmp_path)

    assert "error" not in seen, seen["error"]
    assert proxy.cuts_left == 0
    assert seen["events"] == _log(alice, session_id)
    # Sockets were cut too, and both they and the pages brought something.
    assert proxy.cut_sockets > CUTS / 10
    assert seen["sockets"] > CUTS / 20
    assert 0 < seen["live"] < len(seen["events"])


def test_the_answers_of_a_council_come_through(
    committed: None, web: Web, simulator: RunningSimulator, client: Client, tmp_path: Path
) -> None:
    council = Council(customer("alice"), cards=4, tokens=150, delay_ms=40)
    stream = partial(_council, session_id=council.session.pk, account=council.owner)

    seen = _followed_at_work(client, web, simulator, stream, tmp_path)

    assert seen["events"] == _log(council.owner, council.session.pk)
    answers: dict[str, str] = {}
    for event in seen["events"]:
        if event["type"] == "card.delta":
            card_id = event["data"]["card_id"]
            answers[card_id] = answers.get(card_id, "") + event["data"]["text"]
    assert {len(answer.split()) for answer in answers.values()} == {150}
    assert answers == council.answers()


@pytest.mark.usefixtures("providers")
def test_the_steps_of_a_project_run_come_through(
    committed: None, web: Web, simulator: RunningSimulator, client: Client, tmp_path: Path
) -> None:
    words = {"tokens": 150, "delay_ms": 20}
    project = Project(work=words, final=words)
    stream = partial(_run, session_id=project.run.pk, account=project.alice)

    seen = _followed_at_work(client, web, simulator, stream, tmp_path)

    assert seen["events"] == _log(project.alice, project.run.pk, kind="project")
    texts: dict[str, str] = {}
    for event in seen["events"]:
        if event["type"] == "subtask.delta":
            subtask_id = event["data"]["subtask_id"]
            texts[subtask_id] = texts.get(subtask_id, "") + event["data"]["text"]
    made = Attempt.objects.filter(subtask__run=project.run)
    assert texts == {str(attempt.subtask_id): attempt.body for attempt in made}


def _followed_at_work(
    client: Client,
    web: Web,
    simulator: RunningSimulator,
    stream: Callable[[Proxy], Stream],
    folder: Path,
) -> dict[str, Any]:
    """What a client has seen of work that began once it had opened a socket, however long the
    client took to start."""
    with CuttingProxy(web.port, cuts=CUTS) as proxy, ThreadPoolExecutor(1) as thread:
        following = thread.submit(client, stream(proxy), folder)
        calls.wait_for(lambda: proxy.sockets, seconds=TIMEOUT)
        with running_worker(simulator):
            seen = following.result()
    assert "error" not in seen, seen["error"]
    assert proxy.cut_sockets > 0
    return seen


@pytest.mark.parametrize("makes_up_events", [True])
def test_who_follows_a_process_that_ends_goes_on_at_another(
    committed: None, web: Web, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="pro")
    session_id = _new_stream(alice)

    with (
        running_web(simulator) as ending,
        Proxy(ending.port) as proxy,
        ThreadPoolExecutor(1) as thread,
    ):
        client = thread.submit(followed_in_python, _council(proxy, session_id, alice), tmp_path)
        calls.wait_for(lambda: proxy.sockets == 1)
        _append(session_id, "card.delta")
        proxy.lead_to(web.port)
        ending.process.ask_to_stop()
        _append(session_id, "card.delta")
        calls.wait_for(lambda: proxy.sockets == 2)
        _append(session_id, "session.completed")
        seen = client.result()

    assert seen["events"] == _log(alice, session_id)


@contextmanager
def _written(session_id: UUID, *, until: CuttingProxy) -> Iterator[None]:
    """Somebody writes to the stream, until all cuts have been made and a little longer."""

    def write() -> None:
        deadline = time.monotonic() + TIMEOUT
        while until.cuts_left and time.monotonic() < deadline:
            _append(session_id, "card.delta")
            time.sleep(PAUSE)
        _append(session_id, "card.delta", "card.completed")
        _append(session_id, "session.completed")
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _new_stream(account: User) -> UUID:
    session_id = uuid7()
    services.open_stream(stream_id=session_id, kind="council", account=account)
    return session_id


def _append(session_id: UUID, *types: str) -> None:
    with transaction.atomic():
        events = [NewEvent(name, {"card_id": "1", "text": "Grüße. "}) for name in types]
        services.append(stream_id=session_id, events=events)


def _council(proxy: Proxy, session_id: UUID, account: User) -> Stream:
    url = f"{proxy.url}/api/council"
    return Stream(url, session_id, "session.completed", access_token_of(account))


def _run(proxy: Proxy, session_id: UUID, account: User) -> Stream:
    url = f"{proxy.url}/api/project"
    return Stream(url, session_id, "run.completed", access_token_of(account))


def _log(account: User, session_id: UUID, kind: str = "council") -> list[dict[str, Any]]:
    """All of the log, as it was written."""
    events: list[dict[str, Any]] = []
    while True:
        read = selectors.read_page(
            account=account,
            kind=kind,
            stream_id=session_id,
            after_seq=len(events),
            limit=500,
            max_bytes=1_000_000,
        )
        if not (more := json.loads(read.body)):
            return events
        events += more
