"""What the server knows of an answer on its way: was it written before its client went away?"""

import asyncio
import gc
import socket
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from devserver.ports import LOOPBACK
from server.asgi import Receive, Scope, Send
from server.connections.http import HttpProtocol
from server.delivery import Delivery, watched
from tests.chaos.calls import wait_for
from tests.threaded_uvicorn import running_server

REQUEST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
# More than the buffers of both sides hold.
LARGE = 64 * 1024 * 1024


class Caller:
    """Who waits for the answer, as the server sees it."""

    def __init__(self) -> None:
        self.gone = False

    def go(self) -> None:
        self.gone = True


class Served:
    """A server whose answers have `size` bytes. Before each it waits for `seconds`, and holds up
    everything for `blocked` seconds."""

    size = 100
    seconds = 0.0
    blocked = 0.0
    delivery: Delivery | None = None
    is_written = False
    port = 0

    def __init__(self) -> None:
        self.caller: weakref.ref[Caller] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = Caller()
        self.caller = weakref.ref(caller)
        self.delivery = watched(scope, caller.go)
        assert self.delivery
        await asyncio.sleep(self.seconds)
        length = (b"content-length", str(self.size).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        time.sleep(self.blocked)  # noqa: ASYNC251 - as work of others does
        self.delivery.look()
        await send({"type": "http.response.body", "body": bytes(self.size)})
        await self.delivery.written()
        assert caller.gone == self.delivery.is_lost
        self.is_written = True


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    with running_server(served, http=HttpProtocol, loop="uvloop") as server:
        served.port = server.config.port
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[socket.socket]:
    """A connection that has brought its request."""
    with ExitStack() as stack:
        client = stack.enter_context(socket.create_connection((LOOPBACK, served.port), timeout=10))
        client.sendall(REQUEST)
        yield client


def is_lost(served: Served) -> bool:
    wait_for(lambda: served.is_written)
    assert served.delivery
    return served.delivery.is_lost


def read(client: socket.socket, size: int) -> int:
    """Read at least so many bytes. Returns how many."""
    taken = 0
    while taken < size:
        part = client.recv(1_000_000)
        assert part
        taken += len(part)
    return taken


def test_an_answer_is_written_although_its_client_goes_away_after_it(
    served: Served, client: socket.socket
) -> None:
    read(client, served.size)
    client.close()
    assert not is_lost(served)


def test_a_client_that_goes_away_before_is_seen_at_once(served: Served) -> None:
    served.seconds = 1.0
    with socket.create_connection((LOOPBACK, served.port)) as client:
        client.sendall(REQUEST)
        wait_for(lambda: served.delivery)
    wait_for(lambda: served.delivery and served.delivery.is_lost)
    assert not served.is_written
    assert is_lost(served)


def test_a_client_that_went_away_while_the_server_was_busy_is_seen_before_the_last_byte(
    served: Served,
) -> None:
    served.blocked = 0.5
    with socket.create_connection((LOOPBACK, served.port)) as client:
        client.sendall(REQUEST)
        client.recv(1)
    assert is_lost(served)


@pytest.mark.parametrize("stays", [True, False])
def test_a_large_answer_is_written_when_its_client_has_taken_it(
    served: Served, stays: bool
) -> None:
    served.size = LARGE
    with socket.create_connection((LOOPBACK, served.port), timeout=10) as client:
        client.sendall(REQUEST)
        taken = read(client, 1_000_000)
        time.sleep(0.2)
        assert not served.is_written
        if stays:
            read(client, LARGE - taken)
            wait_for(lambda: served.is_written)
    assert is_lost(served) == (not stays)


def test_a_connection_that_is_kept_keeps_nothing_of_its_last_request(
    served: Served, client: socket.socket
) -> None:
    """A body has up to 40 MB."""
    read(client, served.size)
    assert not is_lost(served)

    def is_gone() -> bool:
        gc.collect()
        return served.caller is not None and served.caller() is None

    wait_for(is_gone)
    served.is_written = False
    client.sendall(REQUEST)
    assert not is_lost(served)
