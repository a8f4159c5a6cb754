"""Faults of the authorization servers on request, and the log of what they were asked."""

import json
import time
from collections.abc import Iterator

import httpx
import pytest

from simulator import process
from simulator.process import RunningSimulator
from simulator.tests.oauth_client import SECRETS, Client


@pytest.fixture(scope="module")
def own() -> Iterator[RunningSimulator]:
    """One of its own: faults and the log are common to all callers."""
    with process.running() as running:
        yield running


@pytest.fixture
def client(own: RunningSimulator) -> Iterator[Client]:
    own.oauth.forget_requests()
    yield Client(own, "gitlab")
    own.oauth.stop_failing()


def test_the_log_tells_what_was_asked_and_no_secret(client: Client) -> None:
    tokens = client.connect()
    client.refresh(tokens["refresh_token"])
    client.refresh("unknown")
    httpx.post(f"{client.base}/oauth/revoke", data={**SECRETS, "token": "unknown"})
    assert client.asked() == [
        ("authorize", None, 200),
        ("authorize", None, 303),
        ("token", "authorization_code", 200),
        ("refresh", "refresh_token", 200),
        ("refresh", "refresh_token", 400),
        ("revoke", None, 200),
    ]
    log = json.dumps(client.simulator.oauth.requests())
    for secret in (*map(str, tokens.values()), *SECRETS.values(), client.verifier):
        assert f'"{secret}"' not in log


def test_the_log_can_be_emptied(client: Client) -> None:
    client.connect()
    client.simulator.oauth.forget_requests()
    assert client.asked() == []


def test_a_fault_is_for_one_endpoint_and_so_many_requests_after_the_first(client: Client) -> None:
    client.simulator.oauth.fail("gitlab", "refresh", status=503, skip=1, times=2)
    tokens = client.connect()
    statuses = []
    for _ in range(4):
        answer = client.refresh(tokens["refresh_token"])
        statuses.append(answer.status_code)
        tokens = answer.json() if answer.status_code == 200 else tokens
    assert statuses == [200, 503, 503, 200]


def test_a_fault_is_for_one_server(client: Client) -> None:
    client.simulator.oauth.fail("google", "token", status=503)
    assert client.connect()
    google = Client(client.simulator, "google")
    assert google.exchange(google.code()).status_code == 503


def test_a_request_can_be_carried_out_and_its_answer_lost(client: Client) -> None:
    tokens = client.connect()
    client.simulator.oauth.fail("gitlab", "refresh", when="after", drop=True)
    with pytest.raises(httpx.TransportError):
        client.refresh(tokens["refresh_token"])
    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert [status for *_, status in client.asked()][-2:] == [0, 400]


def test_a_request_that_was_not_carried_out_can_be_repeated(client: Client) -> None:
    tokens = client.connect()
    client.simulator.oauth.fail("gitlab", "refresh", drop=True)
    with pytest.raises(httpx.TransportError):
        client.refresh(tokens["refresh_token"])
    assert client.refresh(tokens["refresh_token"]).status_code == 200


def test_an_answer_can_be_an_error_of_the_server_a_body_or_a_page(client: Client) -> None:
    fail = client.simulator.oauth.fail
    fail("gitlab", "token", status=400, code="invalid_grant", retry_after=7)
    fail("gitlab", "token", status=502, body={"any": 1}, headers={"x-any": "2"})
    fail("gitlab", "token", html="<h1>A proxy</h1>")
    code = client.code()
    first, second, third = client.exchange(code), client.exchange(code), client.exchange(code)
    assert (first.status_code, first.json()["error"]) == (400, "invalid_grant")
    assert first.headers["retry-after"] == "7"
    assert (second.status_code, second.json(), second.headers["x-any"]) == (502, {"any": 1}, "2")
    assert (third.status_code, third.text) == (200, "<h1>A proxy</h1>")
    assert third.headers["content-type"].startswith("text/html")
    assert client.exchange(code).status_code == 200


def test_an_answer_can_be_late_or_never_come(client: Client) -> None:
    client.simulator.oauth.fail("gitlab", "authorize", delay_ms=300)
    started = time.monotonic()
    assert httpx.get(client.authorize_url()).status_code == 200
    assert time.monotonic() - started >= 0.3
    client.simulator.oauth.fail("gitlab", "authorize", hang=True)
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(client.authorize_url(), timeout=0.3)


def test_faults_can_be_taken_back(client: Client) -> None:
    client.simulator.oauth.fail("gitlab", "token", status=503, times=100)
    client.simulator.oauth.stop_failing()
    assert client.connect()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("faults", b"no JSON"),
        ("faults", b'[{"server": "gitlab", "endpoint": "everything"}]'),
        ("faults", b'[{"server": "bitbucket", "endpoint": "token"}]'),
        ("faults", b'[{"server": "gitlab", "endpoint": "token", "more": 1}]'),
        ("revoke", b'{"host": "gitlab"}'),
        ("expire", b"{}"),
    ],
)
def test_a_wish_that_is_not_understood_is_refused(client: Client, path: str, body: bytes) -> None:
    answer = httpx.post(f"{client.simulator.url}/_oauth/{path}", content=body)
    assert answer.status_code == 400


def test_a_token_that_nobody_issued_cannot_expire(client: Client) -> None:
    answer = httpx.post(f"{client.simulator.url}/_oauth/expire", json={"token": "unknown"})
    assert answer.status_code == 404
