"""The number of jobs, and their cancellation."""

from uuid import UUID

from accounts.models import User
from jobs.models import Job


def count_open(user: User) -> int:
    """The number of the user's waiting and running jobs."""
    open_jobs = Job.objects.filter(account=user, ended_at=None)
    return open_jobs.exclude(status=Job.Status.PAUSED).count()


def is_unwanted(job_id: UUID) -> bool:
    """Was the job asked to cancel itself?"""
    return Job.objects.filter(pk=job_id, signal=Job.Signal.CANCEL).exists()
