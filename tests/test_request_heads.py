"""The head of a request, which has to end before anybody is asked what to answer."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil
import pytest

from devserver.ports import LOOPBACK
from tests.service import Web

pytestmark = pytest.mark.usefixtures("committed")

MB = 1024 * 1024
REQUEST = f"GET /v1/models HTTP/1.1\r\nHost: {LOOPBACK}\r\n".encode()
HANDSHAKE = REQUEST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
DEADLINE = 10


@contextmanager
def connected(web: Web) -> Iterator[socket.socket]:
    with socket.create_connection((LOOPBACK, web.port), timeout=DEADLINE + 3) as connection:
        yield connection


def answer_on(connection: socket.socket) -> bytes:
    """The next answer, as far as its first piece goes."""
    return connection.recv(64 * 1024)


def test_a_head_that_does_not_end_in_time_ends_the_connection(web: Web) -> None:
    with ExitStack() as stack:
        silent, half, shaking, second = (stack.enter_context(connected(web)) for _ in range(4))
        half.sendall(REQUEST)
        shaking.sendall(HANDSHAKE)
        second.sendall(REQUEST + b"\r\n")
        while not answer_on(second).endswith(b"}"):
            pass
        second.sendall(REQUEST)
        began = time.monotonic()
        for connection in (silent, half, shaking, second):
            assert connection.recv(1) == b""
        assert DEADLINE - 3 < time.monotonic() - began < DEADLINE + 3


def test_a_head_may_come_in_pieces(web: Web) -> None:
    with connected(web) as connection:
        for byte in REQUEST + b"\r\n":
            connection.sendall(bytes([byte]))
        assert answer_on(connection).startswith(b"HTTP/1.1 200 ")


def test_a_head_without_end_is_refused_before_it_costs_memory(web: Web) -> None:
    process = psutil.Process(web.process.pid)
    before = process.memory_info().rss
    with connected(web) as connection:
        connection.sendall(REQUEST + b"X-Long: ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b"a" * 64 * MB)
    assert process.memory_info().rss - before < 8 * MB


@pytest.mark.parametrize("trailers", [b"X-Long: " + b"a" * 64 * MB, b"X: y\r\n" * 8 * MB])
def test_trailers_without_end_are_refused_before_they_cost_memory(
    web: Web, trailers: bytes
) -> None:
    process = psutil.Process(web.process.pid)
    before = process.memory_info().rss
    with connected(web) as connection:
        connection.sendall(REQUEST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(trailers)
    assert process.memory_info().rss - before < 8 * MB


def test_a_long_head_says_why_it_is_refused(web: Web) -> None:
    with connected(web) as connection:
        connection.sendall(REQUEST + b"X-Long: ")
        time.sleep(0.2)
        connection.sendall(b"a" * 70_000)
        answer = answer_on(connection)
    assert_malformed(answer, "The head of the request is too long.")


def test_what_is_no_request_is_refused_with_an_error_of_the_interface(web: Web) -> None:
    with connected(web) as connection:
        connection.sendall(b"Hello\r\n\r\n")
        answer = answer_on(connection)
    assert_malformed(answer, "Invalid HTTP request received.")


def assert_malformed(answer: bytes, reason: str) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"\r\ncontent-type: application/json\r\n" in head
    assert re.search(rb"\r\nx-request-id: req_[0-9a-f]{32}$", head)
    assert json.loads(body) == {"detail": reason, "code": "malformed_request"}
