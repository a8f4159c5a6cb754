"""PostgreSQL goes away for ten seconds under all kinds of requests: what clients are answered, how
soon, and what the web process logs of it."""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from common.ids import uuid7
from devserver import postgres
from devserver.ports import free_port
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.drill_postgres_away import DATABASE, let_others_in, prepare, running_postgres
from tests.service import Web, running_web

AWAY_SECONDS = 10
ANSWER_SECONDS = 3.0
AT_ONCE = 3
UNAVAILABLE = "service_unavailable"


@dataclass
class Answer:
    """What a client got, by what it did: a status, or the reason of a closed socket."""

    act: str
    status: object
    seconds: float
    request_id: str


@dataclass
class Outage:
    """What clients and the log have of it; `lines` begin when PostgreSQL has gone."""

    answers: list[Answer] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0


class Client:
    """Does everything that a client can do with one web process."""

    def __init__(self, web: Web, key: str, token: str) -> None:
        self._url, self._key, self._token = web.url, key, token

    def acts(self) -> dict[str, Callable[[str], object]]:
        return {
            "read": lambda name: self._send(name, "GET", "/api/conversations", self._token),
            "write": lambda name: self._send(
                name, "POST", "/api/conversations", self._token, json={}
            ),
            "upload": lambda name: self._send(
                name, "POST", "/api/uploads", self._token, files={"file": ("a.txt", b"words")}
            ),
            "sign in": lambda name: self._send(
                name,
                "POST",
                "/api/auth/login",
                "",
                json={"email": "alice@example.com", "password": "correct horse battery"},
            ),
            "admin": lambda name: self._send(
                name, "GET", "/admin/", "", cookies={"sessionid": "a" * 32}
            ),
            "models": lambda name: self._send(name, "GET", "/v1/models", self._key),
            "call": lambda name: self._send(
                name, "POST", "/v1/chat/completions", self._key, json=calls.body("away")
            ),
            "socket": lambda _: self._open_socket(),
        }

    def act(self, name: str) -> Answer:
        request_id, began_at = uuid7().hex, time.monotonic()
        status = self.acts()[name](request_id)
        return Answer(name, status, time.monotonic() - began_at, request_id)

    def _send(self, request_id: str, method: str, path: str, secret: str, **body: Any) -> object:
        headers = {"X-Request-Id": request_id}
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        with httpx.Client(timeout=30, cookies=body.pop("cookies", None)) as http:
            return http.request(method, f"{self._url}{path}", headers=headers, **body).status_code

    def _open_socket(self) -> object:
        url = f"{self._url.replace('http', 'ws')}/api/ws?token={self._token}"
        try:
            with connect(url, open_timeout=30) as socket:
                socket.recv(timeout=0.5)
        except TimeoutError:
            return "open"
        except ConnectionClosed as closed:
            return closed.rcvd and closed.rcvd.reason
        return "open"


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines()


@pytest.fixture(scope="module")
def outage(
    django_db_setup: None,
    django_db_blocker: Any,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Outage:
    """Before, during and after it all acts are tried."""
    folder = Path(tmp_path_factory.mktemp("outage"))
    data, port, log = folder / "data", free_port(), folder / "web.log"
    let_others_in(data)
    seen = Outage()
    environment = {"DATABASE_URL": postgres.url(port, DATABASE)}
    with django_db_blocker.unblock(), running_postgres(data, port) as server:
        postgres.create_database(port, DATABASE)
        key, token = prepare(environment)
        with (
            running_web(simulator, log=str(log), LOG_JSON="1", **environment) as web,
            ThreadPoolExecutor(AT_ONCE * len(Client(web, key, token).acts())) as threads,
        ):
            client = Client(web, key, token)
            names = list(client.acts())
            list(threads.map(client.act, names))
            # The line of the call comes a moment after its answer.
            calls.wait_for(lambda: "call.ended" in log.read_text())
            written = len(lines_of(log))
            server.stop()
            began_at = time.monotonic()
            while time.monotonic() < began_at + AWAY_SECONDS:
                assert httpx.get(f"{web.url}/readyz", timeout=10).status_code in (200, 503)
                seen.answers += threads.map(client.act, names * AT_ONCE)
                time.sleep(0.5)
            postgres.initialise(data)
            with running_postgres(data, port):
                calls.wait_for(lambda: client.act("read").status == 200)
                seen.seconds = time.monotonic() - began_at
                calls.wait_for(lambda: "database.back" in log.read_text())
                calls.wait_for(lambda: httpx.get(f"{web.url}/readyz").status_code == 200)
                # A line comes to the file a moment after the answer.
                calls.wait_for(lambda: "health.ready" in "".join(lines_of(log)[written:]))
                seen.lines = [json.loads(line) for line in lines_of(log)[written:]]
    return seen


def test_every_client_is_answered_503_within_three_seconds(outage: Outage) -> None:
    assert {answer.act for answer in outage.answers} == {
        *("read", "write", "upload", "sign in", "admin", "models", "call", "socket")
    }
    for answer in outage.answers:
        assert answer.status == (UNAVAILABLE if answer.act == "socket" else 503), answer
        assert answer.seconds < ANSWER_SECONDS, answer


def test_a_request_that_failed_is_one_line_with_its_id(outage: Outage) -> None:
    for answer in outage.answers:
        if answer.act == "socket":
            continue
        [line] = [line for line in outage.lines if line.get("request_id") == answer.request_id]
        assert (line["event"], line["level"]) == ("request.answered", "warning")
        assert (line["status"], line["code"]) == (503, UNAVAILABLE)
        assert line["cause"]
        # Uploads are refused in front of Django.
        assert line["route"] or answer.act == "upload"


def test_the_outage_is_two_lines_and_nothing_else_is_logged_of_it_but_by_probes(
    outage: Outage,
) -> None:
    others = [line for line in outage.lines if line["event"] != "request.answered"]
    of_probes = [line["event"] for line in others if line["event"].startswith("health.")]
    assert of_probes[-1:] == ["health.ready"]
    # The models may be unknown a moment later.
    assert of_probes[:-1] in (["health.not_ready"], ["health.not_ready"] * 2)
    others = [line for line in others if not line["event"].startswith("health.")]
    assert [line["event"] for line in others] == ["database.away", "database.back"]
    away, back = others
    # The last one is what a server says that is still ending.
    assert re.search("Connection refused|closed|shutting down", away["error"])
    assert AWAY_SECONDS - 1 < back["seconds"] < outage.seconds + 1
    refused = [line for line in outage.lines if line.get("code") == UNAVAILABLE]
    assert len(refused) >= len(outage.answers)
    # A request may fail a moment before or after the process knows of it.
    assert 0 <= len(refused) - back["refused_requests"] <= AT_ONCE
