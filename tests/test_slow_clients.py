"""Clients that take their answers slowly or not at all: nobody else notices."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx

from conversations.models import Message
from conversations.tests.rows import talk
from devserver.ports import LOOPBACK
from server.asgi import Receive, Scope, Send
from server.connections.http import HttpProtocol
from tests.chaos.calls import wait_for
from tests.personas import authorization, new_user
from tests.service import Web
from tests.threaded_uvicorn import running_server

# More clients than a process has connections to the database, and more text than sockets hold.
CLIENTS = 12
LONG = "x" * 40_000
MESSAGES = 100
MB = 1024 * 1024


@contextmanager
def non_reading_client(port: int, request: str) -> Iterator[socket.socket]:
    """It asks, and reads nothing of the answer."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((LOOPBACK, port))
        connection.sendall(f"{request}\r\nHost: {LOOPBACK}\r\n\r\n".encode())
        yield connection


def test_nobody_waits_for_those_who_read_slowly(committed: None, web: Web) -> None:
    alice = new_user("alice")
    conversation = talk(alice)
    Message.objects.bulk_create(
        Message(conversation=conversation, account_id=alice.pk, role="user", content=LONG)
        for _ in range(MESSAGES)
    )
    headers = authorization(alice)
    path = f"/api/conversations/{conversation.pk}"
    asked = f"GET {path} HTTP/1.1\r\nAuthorization: {headers['Authorization']}"
    with ExitStack() as stack:
        non_reading = [
            stack.enter_context(non_reading_client(web.port, asked)) for _ in range(CLIENTS)
        ]
        began = [client.recv(15) for client in non_reading]
        for _ in range(3):
            answer = httpx.get(f"{web.url}/api/conversations", headers=headers)
            assert answer.status_code == 200
        rest = non_reading[0].makefile("rb").read(MESSAGES * len(LONG))
    assert began == [b"HTTP/1.1 200 OK"] * CLIENTS
    assert rest.count(LONG.encode()) >= MESSAGES - 1


class ImpatientProtocol(HttpProtocol):
    stalled_milliseconds = 1_000


def test_who_takes_nothing_is_cut_off() -> None:
    """The server would keep the answer for ever."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 32 * MB})

    with running_server(application, http=ImpatientProtocol) as server:
        connections = server.server_state.connections
        began = time.monotonic()
        with non_reading_client(server.config.port, "GET / HTTP/1.1"):
            wait_for(lambda: bool(connections))
            wait_for(lambda: not connections)
            assert time.monotonic() - began > 0.9
