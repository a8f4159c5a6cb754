"""A Redis of a test's own, which may be stopped."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devserver import redis
from devserver.ports import free_port
from devserver.processes import Process
from tests.freezing import freeze


class OwnRedis:
    """Runs until `stop`."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._service = redis.service(folder, self._port, durable=False)
        self.url = redis.url(self._port)
        self._start()

    @contextmanager
    def dead(self) -> Iterator[None]:
        """It is ended, and comes back empty."""
        self._process.stop()
        try:
            yield
        finally:
            self._start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It takes connections, and answers nobody."""
        freeze(self._process.pid)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        self._process.stop()

    def _start(self) -> None:
        self._process = Process(self._service)
        self._process.wait_until_ready(timeout=10)
