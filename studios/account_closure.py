"""Ends the jobs of a user whose data is to be deleted."""

from contextlib import suppress

from accounts.models import User
from common.errors import NotFound
from studios.models import Generation
from studios.services.jobs import cancel


def close(user: User) -> bool:
    """Cancel all jobs; what a provider has begun ends as the provider says. Returns whether all
    have ended."""
    underway = Generation.objects.filter(account=user, ended_at=None)
    for job_id in list(underway.values_list("pk", flat=True)):
        with suppress(NotFound):  # it was cancelled as its user deleted it
            cancel(user=user, job_id=job_id)
    return not underway.exists()
