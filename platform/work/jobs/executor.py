"""Runs jobs on an event loop: delivers their notices, and makes sure that each job ends.

The lease of the process keeps the jobs.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import structlog

from common.backoff import backoff
from common.database import DatabaseUnavailable
from common.loop_local import LoopLocal
from common.set_up import is_missing, report_missing
from common.threads import in_thread
from observability.tracing import spans
from observability.tracing.spans import Span
from work.jobs import claims
from work.jobs.lost import recover
from work.jobs.models import Job
from work.jobs.running import JobLost, RunningJob
from work.jobs.traces import traced
from work.leases.keeper import get_lease_keeper

log = structlog.get_logger(__name__)

# Longer than the reply to a claim, or to the commit of a begun job, may take.
UNANSWERED = timedelta(seconds=15)
UNANSWERED_LOOK_SECONDS = 5.0
# Seconds between two reads of the jobs' notices: one statement for all of them.
NOTICE_SECONDS = 0.25
# Seconds after the drain for jobs whose calls have been stopped.
CLOSE_SECONDS = 5.0
END_PAUSES = (0.5, 1.0, 2.0, 5.0)
# Seconds until a database that is not set up is looked at again.
NOT_SET_UP_SECONDS = 5.0

Work = Callable[[RunningJob], Awaitable[None]]
Step = Callable[[], Awaitable[None]]


class JobExecutor:
    """The running jobs of one event loop."""

    def __init__(self) -> None:
        self._lease = get_lease_keeper()
        self._jobs: dict[UUID, RunningJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._keepers: dict[Step, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    @property
    def jobs(self) -> Collection[UUID]:
        """The jobs that run here."""
        return self._jobs.keys()

    async def admit(self) -> UUID:
        """The owner id for a job that may begin here now (`work.jobs.services.begin`). Raises
        DatabaseUnavailable where this process has no lease."""
        await self._lease.ensure()
        self.keep(self._end_unknown, UNANSWERED_LOOK_SECONDS)
        return self._lease.owner_id

    def start(self, job: RunningJob, work: Work) -> None:
        """Run `work`, which does the job and ends it. A job that it leaves running is ended as
        lost."""
        self._jobs[job.id] = job
        # A fresh context, as for a call: the job does not belong to the request that began it,
        # though to its trace.
        task = asyncio.get_running_loop().create_task(
            self._run(job, work), context=spans.fresh_context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.keep(self._deliver_notices, NOTICE_SECONDS)

    def keep(self, step: Step, pause: float) -> None:
        """Repeat a step until the executor is closed."""
        if step not in self._keepers:
            self._keepers[step] = asyncio.get_running_loop().create_task(
                _repeat(step, pause), context=contextvars.Context()
            )

    async def close(self, *, seconds: float = CLOSE_SECONDS) -> None:
        """Give jobs this long to end. A job that has not ended by then lapses with the lease."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._jobs:
                    await self.change()
        tasks = (*self._tasks, *self._keepers.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def change(self) -> None:
        """Wait until a job has ended, or `wake` is called."""
        self._changed.clear()
        await self._changed.wait()

    def wake(self) -> None:
        """Make the waiters of `change` check again."""
        self._changed.set()

    # --- Running ----------------------------------------------------------------------------------

    async def _run(self, job: RunningJob, work: Work) -> None:
        async with traced(job) as span:
            await _do(job, work, span)
        try:
            if not job.ended:
                await self._make_sure_of_its_end(job)
        finally:
            del self._jobs[job.id]
            job.forget_listeners()
            self.wake()

    async def _make_sure_of_its_end(self, job: RunningJob) -> None:
        """End a job whose handler left it running; repeat until the database answers."""
        for pause in backoff(*END_PAUSES):
            try:
                if any(notice.lost for notice in await claims.notices([job])):
                    return
                log.error("job.left_running", job_id=str(job.id), kind=job.kind)
                await _end_lost(job)
            except DatabaseUnavailable:
                log.warning("job.not_ended", job_id=str(job.id))
            except Exception:
                # While it runs under our lease, nobody else ends it.
                log.exception("job.not_ended", job_id=str(job.id))
            await asyncio.sleep(pause)

    async def _deliver_notices(self) -> None:
        """Deliver the signals of the jobs."""
        if not self._jobs:
            return
        for notice in await claims.notices(list(self._jobs.values())):
            job = self._jobs.get(notice.job_id)
            if job is None:
                continue
            if notice.lost:
                job.mark_lost()
            else:
                job.set_signal(Job.Signal(notice.signal))

    async def _end_unknown(self) -> None:
        """End the jobs that began here with a lost reply to their commit."""
        owner_id = self._lease.owner_id
        for job in await claims.find_unknown(owner_id, self._jobs, older_than=UNANSWERED):
            if job.id not in self._jobs:
                log.warning("job.unknown_to_its_owner", job_id=str(job.id))
                await _end_lost(job)


async def _do(job: RunningJob, work: Work, span: Span) -> None:
    """What goes wrong is logged within the span, so that the line has the trace."""
    try:
        await work(job)
    except JobLost as error:
        span.fail(spans.code_of(error))
        log.warning("job.lost", job_id=str(job.id), kind=job.kind)
    except Exception as error:
        # A bug.
        span.fail(spans.code_of(error))
        log.exception("job.crashed", job_id=str(job.id), kind=job.kind)


async def _end_lost(job: RunningJob) -> None:
    await in_thread(recover, job.id, job.kind, job.attempt)


async def _repeat(step: Step, pause: float) -> None:
    """Only a cancellation ends this."""
    while True:
        await asyncio.sleep(pause)
        try:
            await step()
        except DatabaseUnavailable:
            log.warning("jobs.not_seen_to")
        except Exception as error:
            if not is_missing(error):
                log.exception("jobs.not_seen_to")
                continue
            report_missing(error)
            await asyncio.sleep(NOT_SET_UP_SECONDS)


_executors = LoopLocal(JobExecutor)


def get_job_executor() -> JobExecutor:
    """The running event loop's executor."""
    return _executors.get()
