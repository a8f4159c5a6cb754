"""Bodies that are announced and never come, on every path: they cost neither memory nor time."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psutil
import pytest

from devserver.ports import LOOPBACK
from server.tests.client import new_address
from simulator.process import RunningSimulator
from tests.personas import authorization, new_key, new_user
from tests.service import Web, running_web

MB = 1024 * 1024
ABUSIVE = new_address()
CROWD, OTHER_CROWD = new_address(), new_address()
LENGTH, SENT = 1_990_000, 1_980_000
PUBLIC = ("/api/auth/login", "/api/nothing", "/admin/login/", "/files/a/b", "/")

pytestmark = pytest.mark.usefixtures("committed")


@contextmanager
def half_sent(
    web: Web, path: str, *headers: str, sent: int = SENT, host: str = ABUSIVE
) -> Iterator[socket.socket]:
    """A connection over which so much of a body has come, and nothing more."""
    fields = ("Host: localhost", "Content-Type: application/json", f"Content-Length: {LENGTH}")
    head = "\r\n".join((f"POST {path} HTTP/1.1", *fields, *headers, "", "")).encode()
    with socket.socket() as connection:
        connection.bind((host, 0))
        connection.settimeout(30)
        connection.connect((LOOPBACK, web.port))
        connection.sendall(head)
        with suppress(ConnectionError):
            connection.sendall(b" " * sent)
        yield connection


@contextmanager
def half_sent_at_once(
    web: Web, path: str, count: int, *, host: str
) -> Iterator[list[socket.socket]]:
    """So many of them, opened by some threads at a time."""
    with ExitStack() as stack, ThreadPoolExecutor(16) as threads:
        opened = [half_sent(web, path, host=host) for _ in range(count)]
        yield list(threads.map(stack.enter_context, opened))


def status_on(connection: socket.socket) -> int:
    with suppress(ConnectionError):
        if answer := connection.recv(12):
            return int(answer.split()[1])
    return 0


def bearer(user: object) -> str:
    return f"Authorization: {authorization(user)['Authorization']}"  # type: ignore[arg-type]


def test_500_bodies_of_a_stranger_take_no_memory(web: Web) -> None:
    process = psutil.Process(web.process.pid)
    with half_sent(web, "/api/spaces", sent=1) as one:  # loads what it takes to refuse one
        assert status_on(one) == 401
    before = process.memory_info().rss
    with half_sent_at_once(web, "/api/spaces", 500, host=CROWD) as connections:
        assert {status_on(each) for each in connections} == {401}
        assert process.memory_info().rss - before < 64 * MB


@pytest.mark.parametrize("path", ["/api/spaces", "/api/uploads", "/api/keys", "/v1/embeddings"])
def test_who_has_no_token_is_refused_before_the_body_is_read(web: Web, path: str) -> None:
    wrong = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.wrong"
    for headers in ((), (wrong,), ("Expect: 100-continue",), (wrong, "Expect: 100-continue")):
        with half_sent(web, path, *headers, sent=0) as connection:
            assert status_on(connection) == 401


def test_who_waits_for_100_is_told_that_the_connection_ends(web: Web) -> None:
    """It may send no body at all: its next request would be taken for one."""
    with half_sent(web, "/api/spaces", "Expect: 100-continue", sent=0) as connection:
        assert b"connection: close" in connection.recv(4096).lower()


def finish_and_ask_again(web: Web) -> int:
    """Is refused early, sends the rest of the body, and a request after it. Returns the status of
    that one's answer, 0 where the connection has ended."""
    with half_sent(web, "/api/spaces") as connection:
        while not connection.recv(4096).endswith(b"}"):
            pass
        connection.sendall(b" " * (LENGTH - SENT) + b"GET /v1/models HTTP/1.1\r\n")
        connection.sendall(b"Host: localhost\r\n\r\n")
        return status_on(connection)


def test_after_an_early_refusal_the_connection_goes_on(web: Web) -> None:
    assert finish_and_ask_again(web) == 200


def test_refused_bodies_of_a_crowd_do_not_delay_that_of_another_address(web: Web) -> None:
    with half_sent_at_once(web, "/api/spaces", 200, host=CROWD):
        assert finish_and_ask_again(web) == 200


def test_a_stale_token_does_not_stand_in_the_way_where_none_is_needed(web: Web) -> None:
    answer = httpx.post(
        f"{web.url}/api/auth/login",
        json={"email": "nobody@example.com", "password": "wrong password"},
        headers={"Authorization": "Bearer stale"},
    )
    assert answer.json()["code"] == "invalid_credentials"


def test_silent_bodies_end_on_every_path_and_dripping_ones_too(simulator: RunningSimulator) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    mine = [("/api/spaces", bearer(alice)), ("/api/uploads", bearer(alice))]
    mine += [("/v1/chat/completions", f"Authorization: Bearer {key}")]
    with (
        running_web(simulator, application="tests.impatient:application") as web,
        ExitStack() as stack,
    ):
        silent = [
            stack.enter_context(half_sent(web, path, *headers, sent=1000))
            for path, *headers in [*([path] for path in PUBLIC), *mine]
        ]
        dripping = [
            stack.enter_context(half_sent(web, path, sent=1)) for path in ("/api/auth/login", "/")
        ]
        began = time.monotonic()
        answers: dict[socket.socket, int] = {}
        while time.monotonic() - began < 10 and len(answers) < len(dripping):
            for each in set(dripping) - set(answers):
                with suppress(ConnectionError):
                    each.sendall(b" ")
                each.settimeout(0.1)
                with suppress(TimeoutError):
                    answers[each] = status_on(each)
        assert list(answers.values()) == [400, 400]
        assert [status_on(each) for each in silent] == [400] * len(silent)
        for each in silent:
            while each.recv(4096):  # until the connection has ended
                pass
        assert time.monotonic() - began < 10


def test_one_address_s_bodies_leave_room_for_others(web: Web) -> None:
    process = psutil.Process(web.process.pid)
    before = process.memory_info().rss
    with half_sent_at_once(web, "/nothing", 100, host=OTHER_CROWD):
        assert process.memory_info().rss - before < 64 * MB
        with half_sent(web, "/nothing", host=LOOPBACK) as other:
            other.sendall(b" " * (LENGTH - SENT))
            assert status_on(other) == 404
