"""What becomes of a job. All but `wish_all` are part of the caller's transaction."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models.functions import Now

from accounts.models import User
from jobs.models import Job


def enqueue(
    *, job_id: UUID, kind: str, account: User, queue: Job.Queue = Job.Queue.INTERACTIVE
) -> None:
    """Have a job done once the transaction is committed."""
    Job.objects.create(id=job_id, kind=kind, account=account, queue=queue)


def is_running(*, job_id: UUID, attempt: int) -> bool:
    """Is the job this attempt's? It then stays so until the transaction ends."""
    running = Job.objects.filter(pk=job_id, attempt=attempt, status=Job.Status.RUNNING)
    return running.select_for_update().first() is not None


def end(*, job_id: UUID, attempt: int, status: Job.Status) -> bool:
    """End a running job. False where it was not this attempt's to end: then nothing may be written
    for it."""
    running = Job.objects.filter(pk=job_id, attempt=attempt, status=Job.Status.RUNNING)
    return running.update(status=status, ended_at=Now()) == 1


def cancel(*, job_ids: Sequence[UUID]) -> set[UUID]:
    """Cancel jobs. Those that had not begun are cancelled now, and returned; those that run are
    asked to stop, and end by themselves."""
    queued = Job.objects.select_for_update().filter(pk__in=job_ids, status=Job.Status.QUEUED)
    cancelled = set(queued.values_list("pk", flat=True))
    Job.objects.filter(pk__in=cancelled).update(status=Job.Status.CANCELLED, ended_at=Now())
    running = Job.objects.filter(pk__in=set(job_ids) - cancelled, status=Job.Status.RUNNING)
    running.update(wish=Job.Wish.CANCEL)
    return cancelled
