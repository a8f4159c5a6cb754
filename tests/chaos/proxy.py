"""TCP proxies between clients and servers, which do to connections what networks do."""

import math
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from devserver.ports import LOOPBACK
from server.tests.client import new_address

_CHUNK = 65536
_FEW_BYTES = 3_000
_RESET = struct.pack("ii", 1, 0)


class Link:
    """One connection through a proxy. `over`: it is hung up once what came last is passed on."""

    is_socket = False

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.over = False


class Proxy:
    """Leads each connection to the next of the servers that are there, and forwards bytes both
    ways. What passes goes through `to_server` and `to_client`, which return what is passed on.

    `sockets` is how many WebSockets were asked for.
    """

    def __init__(self, *server_ports: int) -> None:
        self.sockets = 0
        self._server_ports = list(server_ports)
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, server_port: int) -> None:
        """Another server is there."""
        self._server_ports.append(server_port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """No more connections; those that are open go on."""
        _hang_up(self._listener)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def refuses(self) -> bool:
        """Are new connections refused?"""
        return False

    def source(self) -> str:
        """The address that the server sees."""
        return LOOPBACK

    def to_server(self, link: Link, data: bytes) -> bytes:
        return data

    def to_client(self, link: Link, data: bytes) -> bytes:
        return data

    def left(self, link: Link) -> None:
        """The client's side is closed. The server's side is closed when this returns."""

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = None if self.refuses() else self._next_server()
                if server is None:
                    client.close()
                    continue
                link = Link(client, server)
                for runner in (self._pump_to_server, self._pump_to_client):
                    threading.Thread(target=runner, args=(link,), daemon=True).start()

    def _next_server(self) -> socket.socket | None:
        for _ in self._server_ports:
            port = self._server_ports.pop(0)
            self._server_ports.append(port)
            with suppress(ConnectionRefusedError):
                return socket.create_connection((LOOPBACK, port), source_address=(self.source(), 0))
        return None

    def _pump_to_server(self, link: Link) -> None:
        with suppress(OSError):
            while data := link.client.recv(_CHUNK):
                if b"Upgrade: websocket" in data:
                    link.is_socket = True
                    self.sockets += 1
                link.server.sendall(self.to_server(link, data))
        self.left(link)
        _hang_up(link.server)

    def _pump_to_client(self, link: Link) -> None:
        with suppress(OSError):
            while not link.over and (data := link.server.recv(_CHUNK)):
                link.client.sendall(self.to_client(link, data))
        _hang_up(link.client)


class LossyProxy(Proxy):
    """Stands before PostgreSQL. Once `lose_reply_to` is set, the connection that sends those bytes
    is cut when the server answers, so that the statement takes effect and nobody hears of it.

    With `then_refuse`, it also refuses new connections from then on, until that is unset. While
    `flowing` is unset, no reply gets through: the server seems frozen.
    """

    def __init__(self, server_port: int) -> None:
        self.lose_reply_to: bytes | None = None
        self.then_refuse = False
        self.flowing = threading.Event()
        self.flowing.set()
        self.lost = threading.Event()
        self._doomed: set[Link] = set()
        super().__init__(server_port)

    def refuses(self) -> bool:
        return self.then_refuse and self.lost.is_set()

    def to_server(self, link: Link, data: bytes) -> bytes:
        if self.lose_reply_to and self.lose_reply_to in data:
            self.lose_reply_to = None
            self._doomed.add(link)
        return data

    def to_client(self, link: Link, data: bytes) -> bytes:
        self.flowing.wait()
        if link in self._doomed:
            self.lost.set()
            link.over = True
            return b""
        return data


class DoorProxy(Proxy):
    """Stands before a server that goes away and comes back."""

    def __init__(self, server_port: int) -> None:
        self._links: list[Link] = []
        self._is_shut = False
        super().__init__(server_port)

    @contextmanager
    def shut(self) -> Iterator[None]:
        """All connections are cut and new ones refused, until the block ends."""
        self._is_shut = True
        for link in self._links:
            _hang_up(link.client)
        self._links.clear()
        try:
            yield
        finally:
            self._is_shut = False

    def refuses(self) -> bool:
        return self._is_shut

    def to_server(self, link: Link, data: bytes) -> bytes:
        if link not in self._links:
            self._links.append(link)
        return data


class CuttingProxy(Proxy):
    """Stands before the service. It cuts `cuts` connections, each after a random number of bytes to
    the client, wherever that is: in a header, in a page, in a frame. Then it lets all pass. A
    WebSocket gets `_FEW_BYTES` at most, any other connection `most_bytes`.

    `cut_sockets` is how many of those were WebSockets.
    """

    def __init__(self, *server_ports: int, cuts: int, most_bytes: int = 1_000_000) -> None:
        self.cuts_left = cuts
        self.cut_sockets = 0
        self._most_bytes = most_bytes
        self._random = random.Random(cuts)  # noqa: S311 - no secret
        self._bytes_left: dict[Link, int] = {}
        self._lock = threading.Lock()
        super().__init__(*server_ports)

    def source(self) -> str:
        """One per connection, so that the limit on what one client may ask is not used up."""
        return new_address()

    def to_client(self, link: Link, data: bytes) -> bytes:
        with self._lock:
            left = self._bytes_left.setdefault(link, self._some_bytes(link)) - len(data)
            self._bytes_left[link] = left
            if left >= 0 or not self.cuts_left:
                return data
            self.cuts_left -= 1
            self.cut_sockets += link.is_socket
            link.over = True
            if self._random.random() < 0.5:
                link.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            return data[:left]

    def _some_bytes(self, link: Link) -> int:
        """All orders of magnitude alike, from a piece of a header on: a few dozen frames at most,
        or very many pages, for who never gets a whole one gets nowhere."""
        most = _FEW_BYTES if link.is_socket else self._most_bytes
        return int(10 ** self._random.uniform(1.5, math.log10(most)))


class ChosenCutProxy(Proxy):
    """Stands before the service, and closes both sides of connections: of each of the first `cuts`
    after `at` bytes to the client, and at once of those that are open when the test says `cut`.

    The server's side stays open `lag` seconds longer. The proxy reads only what it passes on, so
    that the rest of a large answer stays with the server.
    """

    def __init__(self, *server_ports: int, at: int = 0, cuts: int = 0, lag: float = 0.0) -> None:
        self.cuts_left = cuts
        self._at = at
        self._lag = lag
        self._passed: dict[Link, int] = {}
        super().__init__(*server_ports)

    def cut(self) -> None:
        """Close the connections that are open."""
        for link in list(self._passed):
            link.over = True
            _hang_up(link.client)
        self._passed.clear()

    def left(self, link: Link) -> None:
        time.sleep(self._lag if link.over else 0.0)

    def to_server(self, link: Link, data: bytes) -> bytes:
        self._passed.setdefault(link, 0)
        return data

    def to_client(self, link: Link, data: bytes) -> bytes:
        passed = self._passed.get(link, 0)
        self._passed[link] = passed + len(data)
        if not self.cuts_left or passed + len(data) < self._at:
            return data
        self.cuts_left -= 1
        link.over = True
        return data[: self._at - passed]

    def _next_server(self) -> socket.socket | None:
        server = super()._next_server()
        if server is not None:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _CHUNK)
        return server


def _hang_up(connection: socket.socket) -> None:
    """Closing alone would wait for the thread that still reads from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
