"""Clients that follow a council as the documentation recommends, while the network cuts their
connections a hundred times: they end with exactly the log."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from accounts.models import User
from common.ids import uuid7
from events import selectors, services
from events.types import NewEvent
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.chaos.proxy import CuttingProxy, Proxy
from tests.clients import page
from tests.clients.following import FOLLOWERS, TIMEOUT, followed_in_python
from tests.personas import access_token_of, new_user
from tests.service import Web, running_web
from tests.worker import Worker

CUTS = 100
# Seconds between two events of the writer: about as many as a council of eight cards has.
PAUSE = 0.03

# Address of the service, session, token, folder of its own: what the client has seen.
Client = Callable[[str, UUID, str, Path], dict[str, Any]]


@pytest.fixture
def in_a_page(page_port: int) -> Client:
    """A page of another origin, in a real browser."""

    def in_a_page(url: str, session_id: UUID, token: str, folder: Path) -> dict[str, Any]:
        task = {"baseURL": url, "session": str(session_id), "token": token}
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


def test_a_hundred_cuts_lose_nothing_and_repeat_nothing(
    committed: None, web: Web, client: Client, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="pro")
    session_id = _new_stream(alice)

    with CuttingProxy(web.port, cuts=CUTS) as proxy, _written(session_id, until=proxy):
        seen = client(proxy.url, session_id, _token(alice), tmp_path)

    assert "error" not in seen, seen["error"]
    assert proxy.cuts_left == 0
    assert seen["events"] == _log(alice, session_id)
    # Sockets were cut too, and both they and the pages brought something.
    assert proxy.cut_sockets > CUTS / 10
    assert seen["sockets"] > CUTS / 20
    assert 0 < seen["live"] < len(seen["events"])


def test_the_answers_of_a_council_come_through(
    committed: None, web: Web, worker: Worker, client: Client, tmp_path: Path
) -> None:
    with CuttingProxy(web.port, cuts=CUTS) as proxy:
        council = Council(customer("alice"), cards=4, tokens=150, delay_ms=40)
        seen = client(proxy.url, council.session.pk, _token(council.owner), tmp_path)

    assert "error" not in seen, seen["error"]
    assert proxy.cut_sockets > 0
    assert seen["events"] == _log(council.owner, council.session.pk)
    answers: dict[str, str] = {}
    for event in seen["events"]:
        if event["type"] == "card.delta":
            card_id = event["data"]["card_id"]
            answers[card_id] = answers.get(card_id, "") + event["data"]["text"]
    assert {len(answer.split()) for answer in answers.values()} == {150}
    assert answers == council.answers()


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
        client = thread.submit(followed_in_python, proxy.url, session_id, _token(alice), tmp_path)
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


def _token(user: User) -> str:
    return access_token_of(user)


def _log(account: User, session_id: UUID) -> list[dict[str, Any]]:
    """All of the log, as it was written."""
    events: list[dict[str, Any]] = []
    while True:
        read = selectors.read_page(
            account=account,
            kind="council",
            stream_id=session_id,
            after_seq=len(events),
            limit=500,
            max_bytes=1_000_000,
        )
        if not (more := json.loads(read.body)):
            return events
        events += more
