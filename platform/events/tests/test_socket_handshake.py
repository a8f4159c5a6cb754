"""Handshakes that are none, or are refused: each is answered at once, and nobody has to know."""

import socket as sockets

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

KB = 1024


def handshake(query: str = "", key: str = "dGhlIHNhbXBsZSBub25jZQ==", **headers: str) -> bytes:
    lines = [
        f"GET /api/council/ws/nothing?{query} HTTP/1.1",
        f"Host: {LOOPBACK}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def answer_to(web: Web, request: bytes) -> bytes:
    """All that comes until the server ends the connection."""
    with sockets.create_connection((LOOPBACK, web.port), timeout=5) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(64 * KB), b""))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (handshake("token=" + "a" * 9 * KB), 414),
        (handshake(authorization="Bearer " + "a" * 9 * KB), 431),
        (handshake(**{f"x{number}": "a" for number in range(130)}), 431),
        (handshake(**{f"x{number}": "a" * KB for number in range(40)}), 431),
        (handshake(content_length="5"), 400),
        (handshake(content_length="5") + b"hello", 400),
        (handshake(transfer_encoding="chunked"), 400),
        (handshake(key="short"), 400),
    ],
    ids=["long token", "long header", "many headers", "long", "length", "body", "chunks", "key"],
)
def test_a_malformed_handshake_is_answered_and_its_connection_ended(
    web: Web, request_: bytes, status: int
) -> None:
    answer = answer_to(web, request_)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\n\r\nFailed to open a WebSocket connection: " in answer


def test_no_refusal_is_an_error_in_the_log(simulator: RunningSimulator) -> None:
    with running_web(simulator) as web:
        for path, host in (("/api/nothing", LOOPBACK), ("/api/council/ws/x", "evil.example.com")):
            url = f"ws://{host}:{web.port}{path}"
            with pytest.raises(InvalidStatus), connect(url, address=(LOOPBACK, web.port)):
                pass
        answer_to(web, handshake(content_length="5"))
        answer_to(web, handshake("token=" + "a" * 9 * KB))
    written = web.process.report("wrote")
    assert "Shutting down" in written
    assert "error" not in written.replace("uvicorn.error", "")
