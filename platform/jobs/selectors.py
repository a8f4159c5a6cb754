"""The jobs of a user."""

from accounts.models import User
from jobs.models import Job


def count_open(user: User) -> int:
    """How many of the user's jobs wait or run."""
    return Job.objects.filter(
        account=user, status__in=(Job.Status.QUEUED, Job.Status.RUNNING)
    ).count()
