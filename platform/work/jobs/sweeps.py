"""Periodic work on jobs: ending lost ones, deleting old ones."""

import structlog
from django.db import connection

from work.jobs.lost import recover
from work.jobs.models import Job
from work.jobs.retention import deletable

log = structlog.get_logger(__name__)


# Jobs in one sweep.
LIMIT = 1000


def end_lost_jobs() -> None:
    """End running jobs whose process has died, or let them start again.

    Each has a transaction of its own, and a job that cannot be ended now delays no other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM lapsed_jobs(%s)", (LIMIT,))
        lapsed = cursor.fetchall()
    for job_id, kind, attempt in lapsed:
        try:
            recover(job_id, kind, attempt)
        except Exception:
            # An error of one job does not stop the others.
            log.exception("job.not_ended", job_id=str(job_id), kind=kind)
        else:
            log.warning("job.lapsed", job_id=str(job_id), kind=kind)


def purge_ended_jobs() -> int:
    """Delete jobs that ended a week ago, and that no app needs. Returns how many."""
    _, deleted = deletable().delete()
    return deleted.get(Job._meta.label, 0)
