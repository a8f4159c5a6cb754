"""Claims of jobs and their signals, for event loops: the functions of `sql/10_jobs.sql`.

All may raise DatabaseUnavailable. A claim whose reply was lost is undone by `requeue_orphans`.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from msgspec import Struct

from common.database import get_database
from work.jobs.handlers import begun_kinds, claimable_kinds
from work.jobs.models import Job
from work.jobs.running import RunningJob


class Notice(Struct, frozen=True):
    """The signal of a running job (`Job.Signal`), or `lost`: the job has ended."""

    job_id: UUID
    signal: str
    lost: bool


async def claim(owner_id: UUID, job_id: UUID) -> list[RunningJob]:
    """Claim a job for a process. Empty where it cannot be claimed."""
    rows = await get_database().rows(
        "SELECT * FROM job_claim(%s, %s, %s)", (job_id, claimable_kinds(), owner_id)
    )
    return [_running(*row) for row in rows]


async def claim_waiting(
    owner_id: UUID, queues: Sequence[str], *, older_than: timedelta, limit: int
) -> list[RunningJob]:
    """Claim at most `limit` jobs that have waited longer than `older_than`."""
    rows = await get_database().rows(
        "SELECT * FROM job_claim_waiting(%s, %s, %s, %s, %s)",
        (list(queues), claimable_kinds(), owner_id, older_than, limit),
    )
    return [_running(*row) for row in rows]


async def claim_due(owner_id: UUID, queues: Sequence[str], *, limit: int) -> list[RunningJob]:
    """Claim at most `limit` scheduled jobs that are due, and of each provider no more than all
    workers together may in a second. The others stay due."""
    rows = await get_database().rows(
        "SELECT * FROM job_claim_due(%s, %s, %s, %s, %s)",
        (list(queues), claimable_kinds(), owner_id, limit, settings.MAX_POLLS_PER_SECOND),
    )
    return [_running(*row) for row in rows]


async def requeue_orphans(
    owner_id: UUID, known: Collection[UUID], *, older_than: timedelta
) -> list[UUID]:
    """Return jobs to the queue whose claims this process does not know."""
    rows = await get_database().rows(
        "SELECT * FROM job_put_back(%s, %s::uuid[], %s)", (owner_id, list(known), older_than)
    )
    return [row[0] for row in rows]


async def find_unknown(
    owner_id: UUID, known: Collection[UUID], *, older_than: timedelta
) -> list[RunningJob]:
    """Jobs that this process began and does not know."""
    rows = await get_database().rows(
        "SELECT * FROM job_unknown(%s, %s, %s::uuid[], %s)",
        (owner_id, begun_kinds(), list(known), older_than),
    )
    return [_running(*row) for row in rows]


async def notices(jobs: Collection[RunningJob]) -> list[Notice]:
    """The notices of running jobs."""
    # The other arguments are inboxes, to which jobs of the release before could listen.
    rows = await get_database().rows(
        "SELECT id, signal, lost FROM job_notices(%s, %s::int[], '{}', '{}')",
        ([job.id for job in jobs], [job.attempt for job in jobs]),
    )
    return [Notice(*row) for row in rows]


async def traceparent_of(job_id: UUID) -> str:
    """The span that has queued a job; empty where there is none."""
    # A statement of its own, and only in a trace: the release before calls the claims above, whose
    # rows cannot have one more column.
    rows = await get_database().rows("SELECT traceparent FROM jobs_job WHERE id = %s", (job_id,))
    return str(rows[0][0]) if rows else ""


def _running(
    job_id: UUID, attempt: int, kind: str, account_id: UUID, signal: str = ""
) -> RunningJob:
    return RunningJob(job_id, account_id, kind, attempt, Job.Signal(signal))
