"""A connection that has ended is freed at once, not by the garbage collector: freeing thousands of
them together stops the process for a tenth of a second."""

import gc
import socket
from collections.abc import Callable, Iterator

import pytest
import uvicorn

from devserver.ports import LOOPBACK
from server.asgi import Receive, Scope, Send
from server.connections.http import HttpProtocol
from server.connections.websocket import WebSocketProtocol
from tests.chaos.calls import wait_for
from tests.threaded_uvicorn import running_server

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


LENGTH = [(b"content-length", b"1")]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Accept a socket, or answer `1`, and wait until the client has gone."""
    message = await receive()
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    elif scope["path"] == "/":
        await send({"type": "http.response.start", "status": 200, "headers": LENGTH})
        await send({"type": "http.response.body", "body": b"1"})
    while not message["type"].endswith("disconnect"):
        message = await receive()


@pytest.fixture
def config() -> Iterator[uvicorn.Config]:
    """The configuration of a running server."""
    options = {"http": HttpProtocol, "ws": WebSocketProtocol, "loop": "uvloop"}
    with running_server(application, **options) as server:
        yield server.config


@pytest.fixture
def connections(config: uvicorn.Config) -> Iterator[Callable[[], int]]:
    """Counts the connections that the server keeps; nothing collects garbage meanwhile."""

    def is_ours(each: object) -> bool:
        # Not isinstance: it asks lazy objects and dead proxies for their class.
        return type(each) is HttpProtocol and each.config is config

    gc.disable()
    try:
        yield lambda: sum(map(is_ours, gc.get_objects()))
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("sent", "is_answered"),
    [
        (b"", False),
        (b"GET / HTTP/1.1\r\nHost: ", False),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3, True),
        (b"GET /silent HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
        (b"POST /silent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n12", False),
        (HANDSHAKE, True),
    ],
    ids=["nothing", "half a head", "a request", "three", "no answer", "half a body", "a socket"],
)
def test_a_connection_is_freed_when_it_ends(
    config: uvicorn.Config, connections: Callable[[], int], sent: bytes, is_answered: bool
) -> None:
    for _ in range(3):
        with socket.create_connection((LOOPBACK, config.port), timeout=10) as client:
            client.sendall(sent)
            if is_answered:
                assert client.recv(4096)
            if sent != HANDSHAKE:
                wait_for(lambda: connections() > 0)
    wait_for(lambda: connections() == 0)
