"""Runs the jobs of one worker process, on its event loop: claims them, runs their handlers in its
executor, and drains."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings

from common.database import DatabaseUnavailable
from work.jobs import claims
from work.jobs.executor import CLOSE_SECONDS, UNANSWERED, get_job_executor
from work.jobs.handlers import get_handler
from work.jobs.running import RunningJob
from work.leases.keeper import get_lease_keeper

log = structlog.get_logger(__name__)

# Seconds that a message waits for room here before the job is left for a later poll.
ROOM_SECONDS = 2.0
# Seconds between two polls for jobs whose messages were lost, and the age at which a message counts
# as lost.
LOOK_OUT_SECONDS = 2.0
# Seconds between two looks for scheduled jobs that are due. It is short, because a look finds no
# room at a provider until a whole second has passed since the claims before it.
DUE_LOOK_SECONDS = 0.2
ASTRAY = timedelta(seconds=5)


class JobPoller:
    """Runs at most MAX_OPEN_JOBS at once, of the queues that this worker serves."""

    def __init__(self, queues: Sequence[str]) -> None:
        self._queues = queues
        self._lease = get_lease_keeper()
        self._lease.kind = "worker"
        self._executor = get_job_executor()
        self._executor.keep(self._poll, LOOK_OUT_SECONDS)
        self._executor.keep(self._continue_scheduled, DUE_LOOK_SECONDS)
        self._claiming = 0
        self._draining = False

    async def start(self, job_id: UUID) -> None:
        """Run a job, if there is room within a moment and nobody else has claimed it. Otherwise a
        later poll claims it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ROOM_SECONDS):
                while not self._room and not self._draining:
                    await self._executor.change()
        if not self._room or self._draining:
            return
        try:
            await self._begin(lambda: claims.claim(self._lease.owner_id, job_id), room=1)
        except DatabaseUnavailable:
            log.warning("job.not_claimed", job_id=str(job_id))

    async def drain(self) -> None:
        """Claim no more jobs, and give those that run DRAIN_SECONDS to end."""
        self._draining = True
        await self._idle(settings.DRAIN_SECONDS)

    async def close(self) -> None:
        """Let jobs end whose calls have been stopped. A job that has not ended by then lapses with
        the lease."""
        await self._idle(CLOSE_SECONDS)
        with suppress(DatabaseUnavailable):
            await claims.requeue_orphans(
                self._lease.owner_id, self._executor.jobs, older_than=timedelta()
            )
        await self._executor.close(seconds=0)

    # --- Claiming ---------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        return max(0, settings.MAX_OPEN_JOBS - len(self._executor.jobs) - self._claiming)

    async def _begin(self, claim: Callable[[], Awaitable[list[RunningJob]]], *, room: int) -> None:
        """Run the jobs that `claim` returns, at most `room` of them. Raises DatabaseUnavailable."""
        self._claiming += room
        try:
            await self._lease.ensure()
            for job in await claim():
                self._executor.start(job, get_handler(job.kind).run)
        finally:
            self._claiming -= room
            self._executor.wake()

    async def _poll(self) -> None:
        """Claim jobs that have waited too long; undo claims whose reply was lost."""
        owner_id = self._lease.owner_id
        for job_id in await claims.requeue_orphans(
            owner_id, self._executor.jobs, older_than=UNANSWERED
        ):
            log.warning("job.unknown_to_its_owner", job_id=str(job_id))
        if (room := self._room) and not self._draining:
            await self._begin(
                lambda: claims.claim_waiting(owner_id, self._queues, older_than=ASTRAY, limit=room),
                room=room,
            )

    async def _continue_scheduled(self) -> None:
        """Claim scheduled jobs that are due."""
        if (room := self._room) and not self._draining:
            await self._begin(
                lambda: claims.claim_due(self._lease.owner_id, self._queues, limit=room), room=room
            )

    async def _idle(self, seconds: float) -> None:
        """Wait until nothing runs, but not for longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._executor.jobs or self._claiming:
                    await self._executor.change()
