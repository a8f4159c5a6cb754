"""What a peer does to its own connection is no event of ours: the log has a line of the level debug
at most, without a traceback, and the service serves on. What fails by ourselves stays an error."""

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import DjangoDbBlocker
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from devserver.ports import LOOPBACK, free_port
from events.tests.sockets import token_of, url_of
from events.tests.streams import new_stream
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.personas import new_user
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

TIMES = 5
GET = f"GET /v1/models HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode()
POST = f"POST /api/auth/login HTTP/1.1\r\nHost: {LOOPBACK}\r\n".encode()
JSON = b"Content-Type: application/json\r\n"
# The first bytes of a TLS handshake.
CLIENT_HELLO = bytes.fromhex("1603010200010001fc0303") + os.urandom(300)
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)
LEVELS_OF_PEERS = {"debug", "info"}


@dataclass
class Logged:
    """A web process, and the lines that it has written."""

    web: Web
    metrics_port: int
    log: Path

    def lines(self, begin: int) -> list[str]:
        return self.log.read_text()[begin:].splitlines()

    def length(self) -> int:
        return len(self.log.read_text())


@pytest.fixture(scope="module")
def logged(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Logged]:
    log = tmp_path_factory.mktemp("peers") / "log"
    metrics_port = free_port()
    with (
        django_db_blocker.unblock(),
        running_web(
            simulator,
            log=str(log),
            application="tests.failing:application",
            LOG_JSON="1",
            LOG_LEVEL="DEBUG",
            METRICS_PORT=str(metrics_port),
        ) as web,
    ):
        yield Logged(web, metrics_port, log)


Act = Callable[[socket.socket], object]


def send(*parts: bytes) -> Act:
    def act(end: socket.socket) -> None:
        for part in parts:
            end.sendall(part)

    return act


def send_and_read(*parts: bytes) -> Act:
    def act(end: socket.socket) -> None:
        send(*parts)(end)
        end.settimeout(0.3)
        with suppress(OSError):
            while end.recv(65_536):
                pass

    return act


def send_and_half_close(*parts: bytes) -> Act:
    def act(end: socket.socket) -> None:
        send(*parts)(end)
        end.shutdown(socket.SHUT_WR)
        end.settimeout(0.3)
        with suppress(OSError):
            while end.recv(65_536):
                pass

    return act


HTTP_ACTS: dict[str, Act] = {
    "nothing": send(),
    "a request and no reader": send(GET),
    "three requests in advance": send(GET * 3),
    "three requests in advance to Django": send(GET.replace(b"/v1/models", b"/admin/login/") * 3),
    "forty requests in advance": send(GET * 40),
    "half a head": send(GET[:-4]),
    "half a body": send(POST + JSON + b"Content-Length: 100\r\n\r\n{"),
    "half a body, later": send(POST + JSON + b"Content-Length: 100\r\n\r\n", b"{"),
    "half a body of a call": send(
        POST.replace(b"/api/auth/login", b"/v1/chat/completions") + b"Content-Length: 9\r\n\r\n{"
    ),
    "a body that is expected": send(
        POST + JSON + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
    ),
    "no HTTP": send_and_read(b"\x00\xff no HTTP\r\n\r\n"),
    "TLS": send_and_read(CLIENT_HELLO),
    "HTTP/2": send_and_read(HTTP2),
    "a method that is none": send_and_read(GET.replace(b"GET", b"G\x80T")),
    "a target that is none": send_and_read(GET.replace(b"/v1/models", b"http://")),
    "a target that is no ASCII": send_and_read(GET.replace(b"/v1/models", b"/\xff\xfe")),
    "a tunnel": send_and_read(b"CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n"),
    "a length that is none": send_and_read(POST + JSON + b"Content-Length: x\r\n\r\n"),
    "two lengths": send_and_read(
        POST + JSON + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a chunk that is none": send_and_read(
        POST + JSON + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"
    ),
    "a chunk that is none, later": send_and_read(
        POST + JSON + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"nonsense\r\n"
    ),
    "a head without end": send_and_read(GET[:-2] + b"X: " + b"a" * 70_000),
    "another protocol": send_and_read(GET[:-2] + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "a request and no more": send_and_half_close(GET),
    "half a request and no more": send_and_half_close(GET[:-4]),
    "half a body and no more": send_and_half_close(POST + JSON + b"Content-Length: 9\r\n\r\n{"),
}


def frame(opcode: Opcode, data: bytes, **options: Any) -> bytes:
    return Frame(opcode, data, **options).serialize(mask=True)


# Announced as 64 GB, masked.
HUGE = b"\x81\xff" + struct.pack("!Q", 64 << 30) + b"mask" + b"x" * 1_000
CLOSE = struct.pack("!H", 1000)
FRAMES: dict[str, bytes] = {
    "a frame of 64 GB": HUGE,
    "a frame of too many bytes": frame(Opcode.TEXT, b"x" * 65_537),
    "20,000 frames": frame(Opcode.TEXT, b"x") * 20_000,
    "20,000 pings": frame(Opcode.PING, b"x") * 20_000,
    "no UTF-8": frame(Opcode.TEXT, b"\xff\xfe"),
    "no UTF-8 in two pieces": frame(Opcode.TEXT, b"\xc3", fin=False) + frame(Opcode.CONT, b"\x28"),
    "bytes": frame(Opcode.BINARY, b"\xff"),
    "a frame that is not masked": b"\x81\x05hello",
    "compression that was not agreed": b"\xc1\x81maskx",
    "an opcode that is none": b"\x83\x80mask",
    "a piece of no message": frame(Opcode.CONT, b"x"),
    "a message in a message": frame(Opcode.TEXT, b"x", fin=False) + frame(Opcode.TEXT, b"x"),
    "a long ping": b"\x89\xfe" + struct.pack("!H", 126) + b"mask" + b"x" * 126,
    "a ping in pieces": b"\x09\x81maskx",
    "half a frame": frame(Opcode.TEXT, b"hello")[:-2],
    "a close of one byte": frame(Opcode.CLOSE, b"\x03"),
    "a close with a code that is none": frame(Opcode.CLOSE, struct.pack("!H", 1005)),
    "a close with a reason that is no UTF-8": frame(Opcode.CLOSE, CLOSE + b"\xff"),
    "frames after a close": frame(Opcode.CLOSE, CLOSE) + frame(Opcode.TEXT, b"x") * 10,
    "HTTP": GET,
    "nothing": b"",
}
HANDSHAKES: dict[str, tuple[bytes, bytes]] = {
    "no key": (b"Sec-WebSocket-Key", b"X-Key"),
    "a key that is none": (b"Sec-WebSocket-Key: ", b"Sec-WebSocket-Key: x"),
    "no version": (b"Sec-WebSocket-Version", b"X-Version"),
    "a name that is none": (b"Sec-WebSocket-Version", b"Sec WebSocket-Version"),
    "a path that is none": (b"/api/council/ws/", b"/api/nothing/ws/"),
    "a token that is none": (b"token=", b"token=x"),
    "a line without end": (b"\r\n\r\n", b"\r\nX-Long: " + b"a" * 40_000),
    "a compression that is none": (b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: \xff;;=\r\n\r\n"),
}
ENDS = ("reset", "closed", "half closed")


def do(port: int, act: Act, end: str = "reset") -> None:
    """Open a connection, act on it, and end it."""
    with socket.create_connection((LOOPBACK, port), timeout=5) as connection:
        if end == "reset":
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        with suppress(OSError):
            act(connection)
            if end == "half closed":
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(0.3)
                while connection.recv(65_536):
                    pass


def lines_of(logged: Logged, act: Callable[[], object]) -> list[dict[str, Any]]:
    """What is written while somebody acts and until the service has answered others. Everything is
    a line of JSON."""
    begin = logged.length()
    act()
    with httpx.Client(base_url=logged.web.url, timeout=10) as http:
        assert http.get("/v1/models").status_code == 200
        assert http.get("/admin/login/").status_code == 200
        assert http.get("/fails").status_code == 500
    wait_for(lambda: any('ArithmeticError: /fails"' in line for line in logged.lines(begin)))
    lines = [json.loads(line) for line in logged.lines(begin)]
    return [
        line
        for line in lines
        if 'ArithmeticError: /fails"' not in f'{line.get("exception", "")}"'
        # Of the pages, at the level debug.
        and line.get("logger") != "django.template"
    ]


def faults(logged: Logged, act: Callable[[], object]) -> list[dict[str, Any]]:
    """The lines above the level info, and those with a traceback."""
    return [
        line
        for line in lines_of(logged, act)
        if line["level"] not in LEVELS_OF_PEERS or {"exception", "exc_info"} & line.keys()
    ]


def assert_quiet(logged: Logged, act: Callable[[], object]) -> None:
    assert faults(logged, act) == []


def notes(logged: Logged, act: Act) -> list[dict[str, Any]]:
    """The lines about the peer."""
    lines = lines_of(logged, lambda: do(logged.web.port, act))
    return [line for line in lines if line["event"].endswith(".peer_failed")]


@pytest.mark.parametrize("act", HTTP_ACTS)
def test_requests_that_are_none_and_connections_that_end(logged: Logged, act: str) -> None:
    def often() -> None:
        for _ in range(TIMES):
            do(logged.web.port, HTTP_ACTS[act])
        do(logged.web.port, HTTP_ACTS[act], "closed")

    assert_quiet(logged, often)


def handshake(web: Web) -> bytes:
    alice = new_user("alice")
    url = url_of(web, new_stream(alice), token=token_of(alice))
    client = ClientProtocol(parse_uri(url))
    client.send_request(client.connect())
    return b"".join(client.data_to_send())


def once_open(opening: bytes, frames: bytes) -> Act:
    def act(end: socket.socket) -> None:
        end.sendall(opening)
        assert end.recv(12) == b"HTTP/1.1 101"
        send_and_read(frames)(end)

    return act


@pytest.mark.parametrize("act", FRAMES)
def test_frames_that_are_none_before_and_after_the_answer_to_the_handshake(
    logged: Logged, act: str
) -> None:
    opening, frames = handshake(logged.web), FRAMES[act]

    def often() -> None:
        for end in ENDS:
            do(logged.web.port, send(opening + frames), end)
            do(logged.web.port, send(opening, frames), end)
            do(logged.web.port, once_open(opening, frames), end)

    assert_quiet(logged, often)


def test_a_socket_that_is_sent_to_while_its_client_breaks_the_protocol(logged: Logged) -> None:
    """The connection is closed when the client has taken what was sent before; until then more is
    sent."""
    opening = handshake(logged.web).replace(b"/api/council/ws/", b"/socket-talks/")

    def act(end: socket.socket) -> None:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        end.sendall(opening)
        assert end.recv(12) == b"HTTP/1.1 101"
        time.sleep(0.3)
        end.sendall(HUGE)
        time.sleep(0.3)
        end.settimeout(2)
        while end.recv(65_536):
            pass

    assert_quiet(logged, lambda: do(logged.web.port, act))


@pytest.mark.parametrize("act", HANDSHAKES)
def test_handshakes_that_are_none(logged: Logged, act: str) -> None:
    opening = handshake(logged.web).replace(*HANDSHAKES[act])

    def often() -> None:
        for end in ENDS:
            do(logged.web.port, send(opening), end)
            do(logged.web.port, send(opening + FRAMES["20,000 frames"]), end)

    assert_quiet(logged, often)


# --- What does not end by its peer ----------------------------------------------------------------


@pytest.mark.parametrize("path", ["/fails-early", "/fails-later"])
def test_a_fault_of_ours_is_an_error_with_its_traceback(logged: Logged, path: str) -> None:
    def ask() -> None:
        with suppress(httpx.RemoteProtocolError):
            httpx.get(logged.web.url + path, timeout=10)

    [line] = faults(logged, ask)
    assert (line["level"], line["logger"]) == ("error", "uvicorn.error")
    assert f"ArithmeticError: {path}" in line["exception"]


def test_a_fault_of_ours_in_a_socket_is_an_error_with_its_traceback(logged: Logged) -> None:
    opening = handshake(logged.web).replace(b"/api/council/ws/", b"/socket-fails/")
    [line] = faults(logged, lambda: do(logged.web.port, send_and_read(opening)))
    assert (line["level"], line["logger"]) == ("error", "uvicorn.websocket")
    assert "ArithmeticError: /socket-fails" in line["exception"]


def test_a_fault_of_ours_while_a_head_is_read_is_an_error_with_its_traceback(
    logged: Logged,
) -> None:
    act = send_and_read(GET[:-2] + b"X-Fails: in the parser\r\n\r\n")
    [line] = faults(logged, lambda: do(logged.web.port, act))
    assert (line["level"], line["event"]) == ("error", "http.parsing_failed")
    assert "ArithmeticError: in the parser" in line["exception"]


# --- One line, at the level debug -----------------------------------------------------------------


def test_what_a_peer_does_wrong_is_one_line_for_who_looks_for_it(logged: Logged) -> None:
    [line] = notes(logged, HTTP_ACTS["TLS"])
    assert (line["level"], line["event"], line["peer"]) == ("debug", "http.peer_failed", LOOPBACK)
    assert line["problem"]
    for name in ("a frame of 64 GB", "20,000 frames", "no UTF-8"):
        [line] = notes(logged, once_open(handshake(logged.web), FRAMES[name]))
        assert (line["level"], line["event"]) == ("debug", "websocket.peer_failed")
        assert line["problem"]


# --- Other servers --------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [*HTTP_ACTS])
def test_the_port_of_the_metrics_says_nothing_of_its_peers(logged: Logged, act: str) -> None:
    def often() -> None:
        for end in ("reset", "closed"):
            do(logged.metrics_port, HTTP_ACTS[act], end)

    assert_quiet(logged, often)
    assert httpx.get(f"http://{LOOPBACK}:{logged.metrics_port}/metrics").status_code == 200
