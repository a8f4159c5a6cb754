"""Does the jobs of one worker process, on its event loop: claims them, runs their handlers, hears
what is wanted of them, and drains.

One lease keeps them, and the charges of their calls: that of the process's inference runtime.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings

from common.backoff import backoff
from common.database import DatabaseUnavailable
from common.threads import in_thread
from inference.runtime import get_runtime
from jobs import claims
from jobs.handlers import get_handler
from jobs.models import Job
from jobs.running import JobLost, RunningJob

log = structlog.get_logger(__name__)

# How long a message waits for room here before the job is left to whoever looks out for it.
ROOM_SECONDS = 2.0
# How often the runner looks out for jobs whose messages went astray, and after what time they did.
LOOK_OUT_SECONDS = 2.0
ASTRAY = timedelta(seconds=5)
# Longer than a claim may take to be answered.
UNANSWERED = timedelta(seconds=15)
# How often the runner asks what is wanted of its jobs: one statement for all of them.
NOTICE_SECONDS = 0.25
# After the drain, how long jobs whose calls have been stopped may take to end.
CLOSE_SECONDS = 5.0
ABANDON_PAUSES = (0.5, 1.0, 2.0, 5.0)


class JobRunner:
    """Runs at most MAX_OPEN_JOBS at once, of the queues that this worker serves."""

    def __init__(self, queues: Sequence[str]) -> None:
        self._queues = queues
        self._runtime = get_runtime()
        self._runtime.name("worker")
        self._jobs: dict[UUID, RunningJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._claiming = 0
        self._changed = asyncio.Event()
        self._draining = False
        self._keepers = [
            asyncio.create_task(self._keep(self._look_out, LOOK_OUT_SECONDS)),
            asyncio.create_task(self._keep(self._hear, NOTICE_SECONDS)),
        ]

    async def start(self, job_id: UUID) -> None:
        """Begin a job, if there is room within a moment and nobody else has it. Otherwise it is
        left as it is, and looked out for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ROOM_SECONDS):
                while not self._room and not self._draining:
                    await self._change()
        if not self._room or self._draining:
            return
        try:
            await self._begin(lambda: claims.claim(self._runtime.owner_id, job_id), room=1)
        except DatabaseUnavailable:
            log.warning("job.not_claimed", job_id=str(job_id))

    async def close(self) -> None:
        """Claim nothing any more. Let jobs end for DRAIN_SECONDS, stop the calls of the others,
        which settle; then give up the lease. A job that has not ended by then has lapsed."""
        self._draining = True
        await self._idle(settings.DRAIN_SECONDS)
        self._runtime.begin_drain(seconds=0)
        await self._idle(CLOSE_SECONDS)
        with suppress(DatabaseUnavailable):
            await claims.put_back(self._runtime.owner_id, self._jobs, older_than=timedelta())
        for task in (*self._tasks, *self._keepers):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._keepers, return_exceptions=True)
        await self._runtime.close()

    # --- Claiming ---------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        return max(0, settings.MAX_OPEN_JOBS - len(self._jobs) - self._claiming)

    async def _begin(self, claim: Callable[[], Awaitable[list[RunningJob]]], *, room: int) -> None:
        """Run what `claim` brings, which takes at most `room`. Raises DatabaseUnavailable."""
        self._claiming += room
        try:
            await self._runtime.keep_lease()
            for job in await claim():
                self._jobs[job.id] = job
                # A fresh context, as for a pump: what began the job has nothing to do with it.
                task = asyncio.create_task(self._run(job), context=contextvars.Context())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            self._claiming -= room
            self._changed.set()

    async def _look_out(self) -> None:
        """Claim what has waited too long; put back what was claimed for us without our knowing."""
        owner_id = self._runtime.owner_id
        for job_id in await claims.put_back(owner_id, self._jobs, older_than=UNANSWERED):
            log.warning("job.unknown_to_its_owner", job_id=str(job_id))
        if (room := self._room) and not self._draining:
            await self._begin(
                lambda: claims.claim_waiting(owner_id, self._queues, older_than=ASTRAY, limit=room),
                room=room,
            )

    # --- Running ----------------------------------------------------------------------------------

    async def _run(self, job: RunningJob) -> None:
        try:
            await get_handler(job.kind).run(job)
        except JobLost:
            log.warning("job.lost", job_id=str(job.id), kind=job.kind)
        except Exception:
            # A fault of ours.
            log.exception("job.crashed", job_id=str(job.id), kind=job.kind)
        try:
            await self._make_sure_of_its_end(job)
        finally:
            del self._jobs[job.id]
            self._changed.set()

    async def _make_sure_of_its_end(self, job: RunningJob) -> None:
        """Abandon a job that its handler has left without ending it; however often that takes."""
        for pause in backoff(*ABANDON_PAUSES):
            try:
                if any(notice.lost for notice in await claims.notices([job])):
                    return
                log.error("job.left_running", job_id=str(job.id), kind=job.kind)
                await in_thread(get_handler(job.kind).abandon, job.id, job.attempt)
            except DatabaseUnavailable:
                log.warning("job.not_abandoned", job_id=str(job.id))
            except Exception:
                # As long as it runs under our lease, nobody else ends it.
                log.exception("job.not_abandoned", job_id=str(job.id))
            await asyncio.sleep(pause)

    async def _hear(self) -> None:
        """Tell the handlers what is wanted of their jobs."""
        if not self._jobs:
            return
        for notice in await claims.notices(list(self._jobs.values())):
            job = self._jobs.get(notice.job_id)
            if job is None:
                continue
            if notice.lost:
                job.lose()
            else:
                job.hear(Job.Wish(notice.wish))

    # --- Waiting ----------------------------------------------------------------------------------

    async def _keep(self, step: Callable[[], Awaitable[None]], pause: float) -> None:
        """Take a step now and then, for ever. Nothing ends this."""
        while True:
            await asyncio.sleep(pause)
            try:
                await step()
            except DatabaseUnavailable:
                log.warning("jobs.not_seen_to")
            except Exception:
                log.exception("jobs.not_seen_to")

    async def _idle(self, seconds: float) -> None:
        """Wait until nothing runs, but not for longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._jobs or self._claiming:
                    await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
