"""Connections between two requests: how long they are kept, and how many."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psutil
import pytest

from devserver.ports import LOOPBACK
from server.asgi import Receive, Scope, Send
from server.connections.http import MAX_PIPELINED, HttpProtocol
from server.connections.keepalive_limit import IdleConnections
from server.serve import KEEP_ALIVE_SECONDS, command
from tests.service import Web
from tests.threaded_uvicorn import running_server

REQUEST = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# What keeps connections to a server, and for how many seconds.
KEEPERS = {"httpx": 5, "aiohttp": 15, "nginx": 60, "ALB": 60, "Go": 90, "Caddy": 120}
MB = 1024 * 1024


def test_the_server_keeps_connections_for_longer_than_its_clients() -> None:
    arguments = command([])
    assert int(arguments[arguments.index("--timeout-keep-alive") + 1]) == KEEP_ALIVE_SECONDS
    assert max(KEEPERS.values()) < KEEP_ALIVE_SECONDS


@pytest.mark.usefixtures("committed")
def test_no_request_is_lost_that_is_sent_just_when_its_client_gives_a_connection_up(
    web: Web,
) -> None:
    """httpx keeps one for five seconds. At five the server closed it, too."""
    with ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(base_url=web.url)) for _ in range(20)]
        for client in clients:
            client.get("/v1/models")
        began = time.monotonic()
        for number, client in enumerate(clients):
            time.sleep(max(0.0, began + 4.95 + number * 0.01 - time.monotonic()))
            assert client.get("/v1/models").status_code == 200


class FewIdle(HttpProtocol):
    idle = IdleConnections(most=4)


@contextmanager
def serving(protocol: type[HttpProtocol]) -> Iterator[int]:
    """A server that answers everything with 204; its port."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with running_server(application, http=protocol) as server:
        yield server.config.port


def connected(stack: ExitStack, port: int, host: str) -> socket.socket:
    connection = stack.enter_context(socket.socket())
    connection.bind((host, 0))
    connection.settimeout(5)
    connection.connect((LOOPBACK, port))
    return connection


def ask(connection: socket.socket) -> bool:
    """Is a request answered?"""
    try:
        connection.sendall(REQUEST)
        return connection.recv(4096).startswith(b"HTTP/1.1 204 ")
    except ConnectionError:
        return False


def test_of_too_many_idle_ones_the_oldest_of_the_most_crowded_address_goes() -> None:
    with serving(FewIdle) as port, ExitStack() as stack:
        alice = connected(stack, port, "127.0.0.1")
        assert ask(alice)
        crowd = [connected(stack, port, "127.0.0.2") for _ in range(10)]
        for each in crowd:
            assert ask(each)
        assert ask(alice)
        assert [ask(each) for each in crowd] == [False] * 7 + [True] * 3
        assert ask(alice)


def test_a_connection_that_works_is_not_idle() -> None:
    idle = IdleConnections(most=1)

    class Kept:
        closed = False

        def timeout_keep_alive_handler(self) -> None:
            self.closed = True

    first, second, third = Kept(), Kept(), Kept()
    idle.add(first, "a")
    idle.discard(first, "a")
    idle.discard(first, "a")
    idle.add(second, "a")
    assert [first.closed, second.closed] == [False, False]
    idle.add(third, "b")
    assert second.closed
    assert not third.closed


def test_requests_may_be_sent_in_advance_but_not_without_end() -> None:
    with serving(HttpProtocol) as port, ExitStack() as stack:
        few, many = (connected(stack, port, LOOPBACK) for _ in range(2))
        few.sendall(REQUEST * MAX_PIPELINED)
        received = b""
        while received.count(b"HTTP/1.1 204") < MAX_PIPELINED:
            received += few.recv(65_536)
        before = psutil.Process().memory_info().rss
        with suppress(ConnectionError):
            many.sendall(REQUEST * 200_000)
        assert not ask(many)
        assert psutil.Process().memory_info().rss - before < 32 * MB
