"""Begins, completes and fails exports."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services.users import lock_user
from events.services import append_to_user
from media.files.services.exported_copies import was_taken_down
from media.files.services.media import let_expire
from privacy import user_events
from privacy.errors import TooManyExports
from privacy.models import Export
from privacy.types import EXPORT_JOB, EXPORT_PERIOD, EXPORT_SECONDS, MAX_EXPORTS_PER_DAY
from work.jobs import services as jobs
from work.jobs.models import Job


@transaction.atomic
def begin(*, user: User) -> Export:
    """Begin an export of all that the user has, or return the one that is being made.

    Raises TooManyExports.
    """
    lock_user(user)  # so that two requests cannot pass the limit together
    mine = Export.objects.filter(account=user)
    if (running := mine.filter(status__in=Export.OPEN).first()) is not None:
        return running
    _check_room(user)
    export = Export.objects.create(account=user, created_at=timezone.now())
    jobs.enqueue(job_id=export.pk, kind=EXPORT_JOB, account=user, queue=Job.Queue.DEFAULT)
    append_to_user(user_id=user.pk, events=[user_events.created(export)])
    return export


def _check_room(user: User) -> None:
    """Raises TooManyExports. Exports that have failed do not count."""
    now = timezone.now()
    recent = Export.objects.filter(account=user, created_at__gt=now - EXPORT_PERIOD)
    counted = recent.exclude(status=Export.Status.FAILED).order_by("-created_at")
    times = list(counted.values_list("created_at", flat=True)[:MAX_EXPORTS_PER_DAY])
    if len(times) == MAX_EXPORTS_PER_DAY:
        wait = times[-1] + EXPORT_PERIOD - now
        raise TooManyExports(retry_after=int(wait.total_seconds()) + 1)


@transaction.atomic
def start(*, job_id: UUID, attempt: int) -> User | None:
    """Show the export as running. Returns the user; None where the attempt does not run any
    more."""
    if not jobs.is_running(job_id=job_id, attempt=attempt):
        return None
    export = Export.objects.select_related("account").get(pk=job_id)
    export.status = Export.Status.RUNNING
    export.save(update_fields=["status"])
    return export.account


@transaction.atomic
def complete(*, job_id: UUID, attempt: int, file_id: UUID, size: int) -> None:
    """End the export with its file, which takes the place of the one before. Where another attempt
    makes it, the file is purged; so it is where it may contain what was taken down meanwhile, and
    the export has failed."""
    if _may_have_what_is_gone(job_id):
        fail(job_id=job_id, attempt=attempt)
    elif jobs.end(job_id=job_id, attempt=attempt, status=Job.Status.COMPLETED):
        _complete(Export.objects.get(pk=job_id), file_id, size)
        return
    let_expire(file_ids=[file_id])


def _may_have_what_is_gone(job_id: UUID) -> bool:
    """Was anything taken down since the export was begun?"""
    export = Export.objects.filter(pk=job_id).first()
    return export is not None and was_taken_down(
        account_id=export.account_id, since=export.created_at
    )


def _complete(export: Export, file_id: UUID, size: int) -> None:
    earlier = Export.objects.filter(account=export.account_id, file__isnull=False)
    let_expire(file_ids=list(earlier.values_list("file_id", flat=True)))
    export.file_id, export.size = file_id, size
    export.expires_at = timezone.now() + timedelta(seconds=EXPORT_SECONDS)
    _end(export, Export.Status.COMPLETED)
    append_to_user(user_id=export.account_id, events=[user_events.completed(export)])


@transaction.atomic
def fail(*, job_id: UUID, attempt: int, status: Job.Status = Job.Status.FAILED) -> None:
    """End the export without a file, and its job with `status`. Without effect where the attempt
    does not run any more."""
    if jobs.end(job_id=job_id, attempt=attempt, status=status):
        export = Export.objects.get(pk=job_id)
        _end(export, Export.Status.FAILED)
        append_to_user(user_id=export.account_id, events=[user_events.failed(export)])


def _end(export: Export, status: Export.Status) -> None:
    export.status, export.ended_at = status, timezone.now()
    export.save()
