"""The connections between the processes of a life and what they stand on, which can be cut."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from tests.chaos.proxy import Link, Proxy

# Statements that change something: their text, or the name under which psycopg has prepared them.
CHANGES = (b"COMMIT", b"money_", b"job_", b"_pg3_")


class Path(Proxy):
    """Leads to one server. All of it is for one nemesis: it is cut, stalls, or loses single
    statements or their replies."""

    def __init__(self, server_port: int) -> None:
        self._links: set[Link] = set()
        self._is_cut = False
        self._flows = threading.Event()
        self._flows.set()
        self._lost: set[Link] = set()
        self._lose_request: Callable[[], bool] = lambda: False
        self._lose_reply: Callable[[], bool] = lambda: False
        super().__init__(server_port)

    # --- What the nemesis does --------------------------------------------------------------------

    def cut(self) -> None:
        """All connections break, and new ones are refused."""
        self._is_cut = True
        self.break_connections()

    def break_connections(self) -> None:
        """All connections break."""
        for link in list(self._links):
            for end in (link.client, link.server):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self._links.clear()

    def stall(self) -> None:
        """What is sent is not delivered, until it heals."""
        self._flows.clear()

    def lose(
        self,
        *,
        requests: Callable[[], bool] | None = None,
        replies: Callable[[], bool] | None = None,
    ) -> None:
        """Statements that change something are lost where `requests` says so; where `replies` does,
        they are carried out and nobody hears of it. Their connections break."""
        self._lose_request = requests or (lambda: False)
        self._lose_reply = replies or (lambda: False)

    def heal(self) -> None:
        self._is_cut = False
        self._flows.set()
        self.lose()

    # --- Proxy ------------------------------------------------------------------------------------

    def refuses(self) -> bool:
        return self._is_cut

    def to_server(self, link: Link, data: bytes) -> bytes:
        self._links.add(link)
        self._flows.wait()
        if any(word in data for word in CHANGES):
            if self._lose_request():
                raise ConnectionAbortedError
            if self._lose_reply():
                self._lost.add(link)
        return data

    def to_client(self, link: Link, data: bytes) -> bytes:
        self._flows.wait()
        if link in self._lost:
            link.over = True
            return b""
        return data
