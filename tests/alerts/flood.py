"""More requests than a process lets wait, and a database that keeps them waiting."""

import resource
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from threading import Event
from typing import Self

import psycopg

from devserver.ports import LOOPBACK
from server.request_queue import MAX_WAITING, MAX_WAITING_OF_ADDRESS
from server.tests.client import new_address
from tests.service import database_url

# Those that wait for a turn wait for several of these. Far shorter than the wait for a connection
# (PATIENCE_SECONDS), as who comes next waits for one through this and its own work.
SLOW_SECONDS = 1.0
# None of them has as many requests as one address may have.
ADDRESSES = 2 * MAX_WAITING // MAX_WAITING_OF_ADDRESS


class Flood:
    """Clients at many addresses that send one request each, and wait for its answer until the block
    ends."""

    def __init__(self, port: int, request: bytes) -> None:
        self._port = port
        self._request = request
        self._addresses = cycle([new_address() for _ in range(ADDRESSES)])
        self._clients = ExitStack()

    def __enter__(self) -> Self:
        _allow_many_connections()
        return self

    def __exit__(self, *_: object) -> None:
        self._clients.close()

    def send(self, count: int) -> None:
        for _ in range(count):
            source = (next(self._addresses), 0)
            client = socket.create_connection((LOOPBACK, self._port), 30, source)
            self._clients.enter_context(client)
            client.sendall(self._request)


def get(path: str, headers: dict[str, str]) -> bytes:
    """The bytes of a request."""
    fields = {"Host": LOOPBACK, **headers}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def slow_users() -> Iterator[None]:
    """Whoever reads a user waits for about a second, until the block ends."""
    over, begun = Event(), Event()

    def keep_locked() -> None:
        with psycopg.connect(database_url()) as database:
            while not over.is_set():
                database.execute("LOCK TABLE accounts_user IN ACCESS EXCLUSIVE MODE")
                begun.set()
                over.wait(SLOW_SECONDS)
                # Those that have waited go on before the next lock.
                database.rollback()

    with ThreadPoolExecutor(1) as threads:
        locking = threads.submit(keep_locked)
        try:
            assert begun.wait(30)
            yield
        finally:
            over.set()
            locking.result()


def _allow_many_connections() -> None:
    """As the web process does: a limit of 1,024 open files is usual."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
