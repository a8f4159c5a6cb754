"""The event loop of a Celery worker, in a thread of its own: jobs, and all I/O with providers.

Celery's threads hand jobs over and go on; so many more run at once than there are threads.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import cache
from uuid import UUID

import structlog
import uvloop
from django.conf import settings

from common.database import get_database
from jobs.deafness import until_deaf
from jobs.runner import JobRunner
from providers import registry

log = structlog.get_logger(__name__)

# Longer than `JobRunner.start` may take: room, a lease, a claim.
HAND_OVER_SECONDS = 20.0
# After the drain, how long Celery may take to end a process that has to go.
LEAVE_SECONDS = 10.0


class Worker:
    """Runs the event loop from `start` to `stop`; all other methods are for other threads too."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._runner: JobRunner
        self._stopping: asyncio.Event

    def start(self, queues: Sequence[str]) -> None:
        """Serve these queues. Returns when jobs can be handed over."""
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(queues, ready), name="jobs", daemon=True
        )
        self._thread.start()
        ready.result()

    def hand_over(self, job_id: UUID) -> None:
        """Have a job done here, if there is room for it."""
        asyncio.run_coroutine_threadsafe(self._runner.start(job_id), self._loop).result(
            HAND_OVER_SECONDS
        )

    def begin_drain(self) -> None:
        """Take no more jobs. May be called by a signal handler."""
        if self._thread:
            self._loop.call_soon_threadsafe(self._runner.begin_drain)

    def stop(self) -> None:
        """Drain, settle, and end the event loop. Returns when that is done."""
        if self._thread:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def _run(self, queues: Sequence[str], ready: "Future[None]") -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve(queues, ready))

    async def _serve(self, queues: Sequence[str], ready: "Future[None]") -> None:
        self._loop = asyncio.get_running_loop()
        self._runner = JobRunner(queues)
        self._stopping = asyncio.Event()
        leaving = asyncio.create_task(_leave_when_deaf(queues))
        ready.set_result(None)
        await self._stopping.wait()
        leaving.cancel()
        await self._runner.close()
        await registry.aclose()
        await get_database().close()


async def _leave_when_deaf(queues: Sequence[str]) -> None:
    """End this process in order, so that it is started again, when Celery takes no messages."""
    await until_deaf(queues)
    log.error("worker.deaf", queues=queues)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(settings.DRAIN_SECONDS + LEAVE_SECONDS)
    os._exit(1)


@cache
def get_worker() -> Worker:
    """This process's worker."""
    return Worker()
