"""What jobs there are, and what is wanted of them."""

from uuid import UUID

from accounts.models import User
from jobs.models import Job


def count_open(user: User) -> int:
    """How many of the user's jobs wait or run."""
    open_jobs = Job.objects.filter(account=user, ended_at=None)
    return open_jobs.exclude(status=Job.Status.PAUSED).count()


def is_unwanted(job_id: UUID) -> bool:
    """Has the job been asked to end by itself?"""
    return Job.objects.filter(pk=job_id, signal=Job.Signal.CANCEL).exists()
