"""uvicorn in a thread of the test, with an application of the test."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import uvicorn

from devserver.ports import LOOPBACK, free_port
from server.asgi import Application
from tests.chaos.calls import wait_for


@contextmanager
def running_server(application: Application, **options: Any) -> Iterator[uvicorn.Server]:
    """A server for `application` until the block ends; `options` are those of uvicorn's Config."""
    config = uvicorn.Config(application, host=LOOPBACK, port=free_port(), lifespan="off", **options)
    server = uvicorn.Server(config)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(server.run)
        wait_for(lambda: server.started)
        try:
            yield server
        finally:
            server.should_exit = True
