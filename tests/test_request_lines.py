"""Every request leaves one line in the log: which, of whom, how it ended and how long it took, but
neither its path nor its query."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.operators import new_operator
from tests.personas import access_token_of, authorization, new_user
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

Line = dict[str, Any]
SECRET = "only-for-the-service"


class Log:
    """What a web process has written."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def line(self, request_id: str) -> Line:
        """The one line of a request."""
        lines: list[Line] = wait_for(lambda: self._lines(request_id))
        [line] = lines
        return line

    def _lines(self, request_id: str) -> list[Line]:
        lines = [json.loads(line) for line in self.file.read_text().splitlines(keepends=True)]
        return [line for line in lines if line.get("request_id") == request_id]


@pytest.fixture(scope="module")
def logged(
    django_db_setup: None,
    django_db_blocker: Any,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Web, Log]]:
    file = tmp_path_factory.mktemp("log") / "web.log"
    with (
        django_db_blocker.unblock(),
        running_web(simulator, log=str(file), LOG_JSON="1") as web,
    ):
        yield web, Log(file)


def sent(web: Web, method: str, path: str, **request: Any) -> tuple[httpx.Response, str]:
    """The answer, and the id that the request had."""
    request_id = uuid7().hex
    headers = {"X-Request-Id": request_id} | request.pop("headers", {})
    return httpx.request(method, f"{web.url}{path}", headers=headers, **request), request_id


def test_a_request_of_a_user_leaves_a_line(logged: tuple[Web, Log]) -> None:
    web, log = logged
    alice = new_user("alice")
    _, request_id = sent(web, "GET", f"/api/conversations?q={SECRET}", headers=authorization(alice))
    line = log.line(request_id)
    assert line.pop("timestamp").endswith("Z")
    assert 0 < line.pop("milliseconds") < 30_000
    assert line == {
        "level": "info",
        "event": "request.answered",
        "method": "GET",
        "route": "api/conversations",
        "status": 200,
        "code": None,
        "cause": None,
        "request_id": request_id,
        "account_id": str(alice.pk),
        "api_key_id": None,
    }
    assert SECRET not in log.file.read_text()


@pytest.mark.parametrize(
    ("method", "path", "route", "status", "code"),
    [
        (
            "GET",
            f"/api/conversations/shared/{SECRET}",
            "api/conversations/shared/<str:share_token>",
            404,
            "not_found",
        ),
        ("GET", f"/{SECRET}", "unknown", 404, "not_found"),
        ("GET", "/api/conversations", "api/conversations", 401, "not_authenticated"),
        ("GET", "/admin/login/", "admin/", 200, None),
    ],
)
def test_nobody_s_request_leaves_one_with_the_code_of_its_error(
    logged: tuple[Web, Log], method: str, path: str, route: str, status: int, code: str | None
) -> None:
    web, log = logged
    _, request_id = sent(web, method, path)
    line = log.line(request_id)
    assert (line["method"], line["route"], line["account_id"]) == (method, route, None)
    assert (line["status"], line["code"]) == (status, code)
    assert SECRET not in log.file.read_text()


def test_a_request_that_is_refused_in_front_of_django_leaves_one(logged: tuple[Web, Log]) -> None:
    web, log = logged
    _, request_id = sent(web, "POST", "/api/auth/login", content=b" " * 2_000_001)
    line = log.line(request_id)
    assert (line["status"], line["code"]) == (413, "payload_too_large")


def test_a_request_of_an_operator_has_the_account_of_the_session(logged: tuple[Web, Log]) -> None:
    web, log = logged
    operator = new_operator()
    session = operator.client.cookies["sessionid"].value
    _, request_id = sent(web, "GET", "/admin/", headers={"Cookie": f"sessionid={session}"})
    assert log.line(request_id)["account_id"] == str(operator.user.pk)


def test_a_socket_leaves_a_line_when_it_has_ended(logged: tuple[Web, Log]) -> None:
    web, log = logged
    alice, request_id = new_user("alice"), uuid7().hex
    url = f"{web.url.replace('http', 'ws')}/api/ws?token={access_token_of(alice)}"
    with connect(url, additional_headers={"X-Request-Id": request_id}):
        pass
    line = log.line(request_id)
    assert (line["method"], line["route"], line["status"]) == ("WEBSOCKET", "api/ws", 101)
    assert line["account_id"] == str(alice.pk)
    assert access_token_of(alice) not in log.file.read_text()


def test_a_socket_that_is_refused_has_the_code_of_its_error(logged: tuple[Web, Log]) -> None:
    web, log = logged
    request_id = uuid7().hex
    url = f"{web.url.replace('http', 'ws')}/api/council/ws/{uuid7()}?token={SECRET}"
    with connect(url, additional_headers={"X-Request-Id": request_id}) as socket:
        wait_for(lambda: socket.close_code)
    line = log.line(request_id)
    assert (line["route"], line["code"]) == ("api/council/ws/{id}", "invalid_token")


def test_lines_of_requests_are_off_where_their_level_is(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    log = tmp_path / "web.log"
    with running_web(simulator, log=str(log), LOG_JSON="1", REQUEST_LOG_LEVEL="DEBUG") as web:
        assert sent(web, "GET", "/v1/models")[0].status_code == 200
        assert sent(web, "GET", "/api/conversations")[0].status_code == 401
    assert "Finished server process" in log.read_text()
    assert "request.answered" not in log.read_text()
