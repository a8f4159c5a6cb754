"""Ends the runs of a user whose data is to be deleted."""

from contextlib import suppress

from accounts.models import User
from common.errors import NotFound
from projects.errors import InvalidState
from projects.models import Apply, Run
from projects.services.runs import cancel
from projects.types import ENDED


def close(user: User) -> bool:
    """Cancel all runs. Returns whether all have ended, and nothing is being applied."""
    underway = Run.objects.filter(account=user).exclude(status__in=ENDED)
    for run_id in list(underway.values_list("pk", flat=True)):
        with suppress(InvalidState, NotFound):
            cancel(user=user, run_id=run_id)
    is_applied = not Apply.objects.filter(run__account=user, ended_at=None).exists()
    return is_applied and not underway.exists()
