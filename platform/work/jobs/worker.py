"""The event loop of a Celery worker, in a thread of its own: jobs, and all I/O with providers.

Celery's threads only hand jobs over, so many more jobs run at once than there are threads.
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

from ai.inference.runtime import get_runtime
from ai.provider_health import services as health
from ai.providers import registry
from common.database import get_database
from server.memory import collect_garbage, spare_loaded_code
from work.jobs.consumer_watchdog import until_stalled
from work.jobs.poller import JobPoller

log = structlog.get_logger(__name__)

# Longer than `JobPoller.start` may take: room, a lease, a claim.
HAND_OVER_SECONDS = 20.0
# Seconds after the drain for the process to end: a frozen database blocks threads for ever. Less
# than a supervisor waits before it kills.
LEAVE_SECONDS = 9.0
# Seconds between two garbage collections: the rows that a transaction has read refer to each other.
COLLECT_SECONDS = 5.0


class Worker:
    """Runs the event loop from `start` until it has drained. `hand_over` is for all threads; the
    other methods are for the main one."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._is_draining = False
        self._loop: asyncio.AbstractEventLoop
        self._poller: JobPoller
        self._stopping: asyncio.Event

    def start(self, queues: Sequence[str]) -> None:
        """Serve these queues. Returns when jobs can be handed over. Raises SystemExit where the
        loop cannot start."""
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(queues, ready), name="jobs", daemon=True
        )
        self._thread.start()
        ready.result()

    def hand_over(self, job_id: UUID) -> None:
        """Run a job here, if there is room for it and the loop is not draining."""
        if self._is_draining:
            return
        asyncio.run_coroutine_threadsafe(self._poller.start(job_id), self._loop).result(
            HAND_OVER_SECONDS
        )

    def begin_drain(self) -> None:
        """Take no more jobs; drain, settle, and end the event loop, independently of Celery's
        threads. May be called by a signal handler."""
        if self._thread and not self._is_draining:
            self._is_draining = True
            self._loop.call_soon_threadsafe(self._stopping.set)

    def stop(self) -> None:
        """Drain if that has not begun. Returns when the event loop has ended."""
        self.begin_drain()
        if self._thread:
            self._thread.join()

    def _run(self, queues: Sequence[str], ready: "Future[None]") -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve(queues, ready))
        except Exception:
            if ready.done():
                raise
            log.exception("worker.not_started")
            # An exception that Celery's signals do not swallow.
            ready.set_exception(SystemExit(1))

    async def _serve(self, queues: Sequence[str], ready: "Future[None]") -> None:
        self._loop = asyncio.get_running_loop()
        self._poller = JobPoller(queues)
        self._stopping = asyncio.Event()
        spare_loaded_code()
        collecting = asyncio.create_task(collect_garbage(COLLECT_SECONDS))
        leaving = asyncio.create_task(_leave_when_stalled(queues))
        ready.set_result(None)
        await self._stopping.wait()
        log.info("worker.draining", seconds=settings.DRAIN_SECONDS)
        _leave_in_time()
        leaving.cancel()
        collecting.cancel()
        await self._poller.drain()
        # The calls of jobs that are left are stopped, and settle.
        get_runtime().begin_drain(seconds=0)
        await self._poller.close()
        await get_runtime().close()
        await asyncio.to_thread(health.close)
        await registry.aclose()
        await get_database().close()


async def _leave_when_stalled(queues: Sequence[str]) -> None:
    """End this process in order, so that it is started again, when Celery takes no messages."""
    await until_stalled(queues)
    log.error("worker.consumer_stalled", queues=queues)
    _leave_in_time()
    os.kill(os.getpid(), signal.SIGTERM)


def _leave_in_time() -> None:
    """End this process after the time limit, even if other threads block."""
    timer = threading.Timer(settings.DRAIN_SECONDS + LEAVE_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()


@cache
def get_worker() -> Worker:
    """This process's worker."""
    return Worker()
