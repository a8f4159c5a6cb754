"""The jobs of a user."""

from accounts.models import User
from jobs.models import Job


def count_open(user: User) -> int:
    """How many of the user's jobs wait or run."""
    open_jobs = Job.objects.filter(account=user, ended_at=None)
    return open_jobs.exclude(status=Job.Status.PAUSED).count()
