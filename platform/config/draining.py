"""Ends a web process: SIGTERM starts the drain of its calls, then its pools and clients are closed.

A server with lifespan, such as uvicorn, stops listening at SIGTERM, waits for its connections, and
then sends lifespan's shutdown: what its connections still bring is served. daphne has no lifespan,
goes on listening, and cancels its requests at SIGTERM: new calls are refused there.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

import structlog
from django.conf import settings

from ai.inference.runtime import get_runtime
from ai.provider_health import services as health
from ai.providers import registry
from common.database import get_database
from common.shutdown import SERVER_SECONDS
from events.hub import get_hub
from server.rate_limit import get_rate_limiter
from work.jobs.executor import get_job_executor

log = structlog.get_logger(__name__)


def begin_with_sigterm() -> None:
    """Start the drain in a signal handler of our own; the server's handler runs after it.

    The server sends lifespan's shutdown only when its connections are closed, and a stream that is
    to be stopped would keep its connection until then.
    """
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGTERM)

    def drain(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(_begin, settings.NOTICE_SECONDS)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGTERM, drain)


async def close() -> None:
    """Wait for the calls within the drain, and close everything that this process has open."""
    await get_hub().close()
    await get_runtime().drain()
    await get_job_executor().close()
    await get_runtime().close()
    await asyncio.to_thread(health.close)
    await registry.aclose()
    await get_rate_limiter().close()
    await get_database().close()


class RequestsWithoutLifespan:
    """Tracks the requests of a server without lifespan, and `are_expected` until a server begins
    one.

    At SIGTERM the server's own handler waits until the calls have been drained and the requests
    have ended; a second signal calls it at once. Where the server runs outside the main thread, as
    `runserver` with its reloader does, or handles no signals, the process ends at once.
    """

    def __init__(self) -> None:
        self.are_expected = True
        self._open: set[asyncio.Task[Any]] = set()
        self._has_handler = False
        self._ending: asyncio.Task[None] | None = None

    async def run(self, request: Coroutine[Any, Any, None]) -> None:
        """Serve a request."""
        if not self._has_handler:
            self._has_handler = True
            self._handle_sigterm()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a coroutine
        self._open.add(task)
        try:
            await request
        finally:
            self._open.discard(task)

    def _handle_sigterm(self) -> None:
        of_server = signal.getsignal(signal.SIGTERM)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if not callable(of_server) or not in_main_thread:
            return
        if not settings.DEBUG:
            log.warning(
                "server.without_lifespan",
                detail="While this server drains, it goes on listening and refuses new calls with "
                "503: a restart is noticed. In production use python -m server.serve.",
            )
        loop = asyncio.get_running_loop()

        def drain(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGTERM, of_server)
            loop.call_soon_threadsafe(self._end, lambda: of_server(number, frame))

        signal.signal(signal.SIGTERM, drain)

    def _end(self, then: Callable[[], object]) -> None:
        self._ending = asyncio.get_running_loop().create_task(self._drain(then))

    async def _drain(self, then: Callable[[], object]) -> None:
        try:
            _begin()
            get_runtime().refuse()
            await get_runtime().drain()
            if self._open:
                await asyncio.wait(self._open, timeout=SERVER_SECONDS)
            await close()
        finally:
            then()


def _begin(notice: float = 0) -> None:
    """Say that the process is not ready; after `notice` seconds send sockets elsewhere."""
    get_runtime().begin_drain()
    asyncio.get_running_loop().call_later(notice, get_hub().begin_drain)
