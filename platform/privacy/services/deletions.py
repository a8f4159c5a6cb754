"""Deletes the data of accounts whose deletion operators have requested.

The request closes the account for good. A sweep then ends what runs, waits until nothing is held,
and deletes in batches. All of it can be repeated: a deletion that dies goes on with the next sweep.
"""

import structlog
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services.users import close_for_deletion, lock_user
from billing.selectors.charges import has_open_charges
from common import ownership
from media.files.errors import StorageUnavailable
from privacy import erasing
from privacy.errors import TimeIsUp
from privacy.models import Deletion
from privacy.types import DELETION_GRACE
from work.jobs import services as jobs
from work.jobs.models import Job

log = structlog.get_logger(__name__)

# Of one account in one sweep.
SECONDS = 30.0


@transaction.atomic
def request(*, user: User) -> bool:
    """Close the account for good, and have its data deleted. Returns False where that was requested
    before. Raises OperatorNotDeletable."""
    if not close_for_deletion(user=user):
        return False
    Deletion.objects.create(account=user)
    return True


def go_on_with_all() -> None:
    """Go on with all deletions, the oldest first. One that fails does not stop the others."""
    for deletion in Deletion.objects.filter(ended_at=None).order_by("requested_at"):
        try:
            go_on(deletion=deletion)
        except StorageUnavailable:
            _note(deletion, "the storage of files, which is not available")
        except Exception:
            log.exception("deletion.failed", user_id=str(deletion.account_id))
            _note(deletion, "a fault to be corrected: see the log")


def go_on(*, deletion: Deletion) -> None:
    """Go on with a deletion, for at most SECONDS. Raises StorageUnavailable."""
    user = deletion.account
    if waits_for := _waits_for(deletion, user):
        _note(deletion, waits_for)
        return
    _note(deletion, "")
    try:
        erasing.erase(deletion, seconds=SECONDS)
    except TimeIsUp:
        return
    _end(deletion, user)


def _waits_for(deletion: Deletion, user: User) -> str:
    """End what runs. Returns what has to end before anything is deleted."""
    are_closed = [close(user) for close in ownership.closings()]
    if not all(are_closed):
        return "work that is being ended"
    open_jobs = list(Job.objects.filter(account=user, ended_at=None).values_list("pk", flat=True))
    with transaction.atomic():
        jobs.cancel(job_ids=open_jobs)
    if Job.objects.filter(pk__in=open_jobs, ended_at=None).exists():
        return "jobs that are being cancelled"
    if has_open_charges(user.pk):
        return "charges that are held"
    if deletion.requested_at > timezone.now() - DELETION_GRACE:
        return "requests that were under way"
    return ""


@transaction.atomic
def _end(deletion: Deletion, user: User) -> None:
    """Anonymise the user, unless there are new rows: those are left to the next sweep."""
    lock_user(user)
    if not erasing.is_erased(user):
        return
    erasing.erase_user(user)
    deletion.ended_at = timezone.now()
    deletion.save(update_fields=["ended_at"])
    log.info("deletion.ended", user_id=str(user.pk))


def _note(deletion: Deletion, waits_for: str) -> None:
    if deletion.waits_for != waits_for:
        deletion.waits_for = waits_for
        deletion.save(update_fields=["waits_for"])
