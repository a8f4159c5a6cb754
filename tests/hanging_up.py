"""Clients that do not wait for their answers."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import httpx


@contextmanager
def sent(request: httpx.Request) -> Iterator[HTTPConnection]:
    """The request is sent; when the block ends its connection is closed, answered or not."""
    with closing(HTTPConnection(request.url.host, request.url.port)) as connection:
        path = request.url.raw_path.decode()
        connection.request(request.method, path, request.read(), dict(request.headers))
        yield connection
