"""The number of jobs, and their cancellation."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from work.jobs.models import Job

_COUNT_OPEN = """
SELECT count(*) FROM jobs_job
WHERE account_id = %s AND ended_at IS NULL AND status <> 'paused'
"""


def count_open(user: User) -> int:
    """The number of the user's waiting and running jobs."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_OPEN, (user.pk,))
        [count] = cursor.fetchone()
    return int(count)


def is_open(job_id: UUID) -> bool:
    """Does the job wait, run, or pause?"""
    return Job.objects.filter(pk=job_id, ended_at=None).exists()


def is_unwanted(job_id: UUID) -> bool:
    """Was the job asked to cancel itself?"""
    return Job.objects.filter(pk=job_id, signal=Job.Signal.CANCEL).exists()
