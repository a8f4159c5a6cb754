"""Changes of jobs, as part of the caller's transaction."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Now

from accounts.models import User
from observability.tracing import spans
from work.jobs.dispatch import get_dispatcher
from work.jobs.errors import TooManyRuns
from work.jobs.models import Job
from work.jobs.running import RunningJob
from work.jobs.selectors import count_open

_BEGIN = """
INSERT INTO jobs_job (id, kind, queue, account_id, owner_id, status, attempt, started_at)
VALUES (%s, %s, %s, %s, %s, 'running', 1, statement_timestamp())
"""


def enqueue(
    *,
    job_id: UUID,
    kind: str,
    account: User,
    queue: Job.Queue = Job.Queue.INTERACTIVE,
    provider: str = "",
    pause: float = 0,
) -> None:
    """Have a worker run a job once the transaction is committed, or `pause` seconds later. The
    charges that the transaction has held for the job (`billing.services.holds.hold_for_job`) wait
    with it. `provider` is the one that it polls, if any."""
    Job.objects.create(
        id=job_id,
        kind=kind,
        account=account,
        queue=queue,
        provider=provider,
        status=Job.Status.SCHEDULED if pause else Job.Status.QUEUED,
        due_at=Now() + timedelta(seconds=pause) if pause else None,
        traceparent=spans.traceparent(),
    )
    if not pause:
        transaction.on_commit(partial(get_dispatcher().send, job_id, queue))


def check_room(*, account: User, new: int = 0) -> None:
    """Raises TooManyRuns where the account's jobs that wait or run, with so many `new` ones, are
    more than MAX_RUNNING_CALLS."""
    if count_open(account) + new > settings.MAX_RUNNING_CALLS:
        raise TooManyRuns


def begin(*, job_id: UUID, kind: str, account: User, owner_id: UUID) -> RunningJob:
    """Create a job that the process of `owner_id` (`JobExecutor.admit`) runs; it starts the job
    (`JobExecutor.start`) once the transaction is committed."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN, (job_id, kind, Job.Queue.INTERACTIVE, account.pk, owner_id))
    return RunningJob(job_id, account.pk, kind, attempt=1)


def is_running(*, job_id: UUID, attempt: int) -> bool:
    """Does the job run under this attempt? The answer holds until the transaction ends."""
    return read_signal(job_id=job_id, attempt=attempt) is not None


def read_signal(*, job_id: UUID, attempt: int) -> Job.Signal | None:
    """The signal to a job that runs under this attempt; None where it does not. The answer holds
    until the transaction ends."""
    rows = _running(job_id, attempt).select_for_update().values_list("signal", flat=True)
    return next((Job.Signal(signal) for signal in rows), None)


def end(*, job_id: UUID, attempt: int, status: Job.Status) -> bool:
    """End a running job. False where it does not run under this attempt: then nothing may be
    written for it."""
    return _running(job_id, attempt).update(status=status, ended_at=Now()) == 1


def cancel(*, job_ids: Sequence[UUID]) -> set[UUID]:
    """Cancel jobs. Idle jobs are cancelled at once, and returned; running and scheduled ones are
    asked to stop, and end by themselves."""
    idle, running = _lock(job_ids, Job.Status.QUEUED, Job.Status.PAUSED)
    Job.objects.filter(pk__in=idle).update(status=Job.Status.CANCELLED, ended_at=Now())
    begun = Job.objects.filter(pk__in=running)
    begun.filter(status=Job.Status.SCHEDULED).exclude(signal=Job.Signal.CANCEL).update(due_at=Now())
    begun.update(signal=Job.Signal.CANCEL)
    return idle


def request_cancel(*, job_id: UUID) -> bool:
    """Have a job cancelled by its own handler, which ends what the job belongs to as well: at once
    where it runs, else as soon as a worker takes it, before it makes any call. False where the job
    has ended, was asked before, or is paused."""
    job = Job.objects.select_for_update().get(pk=job_id)
    if job.ended_at or job.status == Job.Status.PAUSED or job.signal == Job.Signal.CANCEL:
        return False
    job.signal = Job.Signal.CANCEL
    job.save(update_fields=["signal"])
    _hasten(job)
    return True


def run_now(*, job_id: UUID) -> bool:
    """Let a worker take a job at once that waits, or that is scheduled for later. False for others:
    what runs is not begun twice, and what has ended is not begun again, because its charge has
    ended too."""
    return _hasten(Job.objects.select_for_update().get(pk=job_id))


def _hasten(job: Job) -> bool:
    """For a job whose row is locked. Did it wait?"""
    if job.status == Job.Status.QUEUED:
        transaction.on_commit(partial(get_dispatcher().send, job.pk, Job.Queue(job.queue)))
        return True
    if job.status == Job.Status.SCHEDULED:
        Job.objects.filter(pk=job.pk).update(due_at=Now())
        return True
    return False


def pause(*, job_ids: Sequence[UUID]) -> set[UUID]:
    """Pause jobs. Jobs that had not begun are paused now, and returned; running ones are asked to
    `pause_running`, unless they are being cancelled."""
    queued, running = _lock(job_ids, Job.Status.QUEUED)
    Job.objects.filter(pk__in=queued).update(status=Job.Status.PAUSED)
    Job.objects.filter(pk__in=running, signal=Job.Signal.NONE).update(signal=Job.Signal.PAUSE)
    return queued


def pause_running(*, job_id: UUID, attempt: int) -> bool:
    """Pause a running job until it is resumed. False where it does not run under this attempt, or
    is to be cancelled."""
    job = _running(job_id, attempt).exclude(signal=Job.Signal.CANCEL)
    return job.update(status=Job.Status.PAUSED, signal=Job.Signal.NONE, owner_id=None) == 1


def start_again(*, job_id: UUID, attempt: int, max_losses: int) -> bool:
    """Let a lost job wait for another worker, or for its user who has asked to pause it. False
    where it does not run under this attempt, is to be cancelled, or has been lost `max_losses`
    times before.

    No message names it: a worker finds it a few seconds later, so that a job with a fault does not
    run in circles.
    """
    job = _running(job_id, attempt).exclude(signal=Job.Signal.CANCEL)
    is_paused = When(signal=Job.Signal.PAUSE, then=Value(Job.Status.PAUSED))
    return (
        job.filter(losses__lt=max_losses).update(
            status=Case(is_paused, default=Value(Job.Status.QUEUED)),
            signal=Job.Signal.NONE,
            losses=F("losses") + 1,
            owner_id=None,
            started_at=None,
            queued_at=Now(),
        )
        == 1
    )


def continue_later(*, job_id: UUID, attempt: int, max_losses: int, seconds: float) -> bool:
    """Schedule a lost job again. False where it does not run under this attempt, or has been lost
    `max_losses` times since it was last scheduled by itself."""
    job = _running(job_id, attempt).filter(losses__lt=max_losses)
    return (
        job.update(
            status=Job.Status.SCHEDULED,
            losses=F("losses") + 1,
            owner_id=None,
            due_at=Now() + timedelta(seconds=seconds),
        )
        == 1
    )


def resume(*, job_ids: Sequence[UUID]) -> set[UUID]:
    """Resume paused jobs, from where their handler left them; they are returned. Running jobs that
    were asked to pause go on."""
    paused, running = _lock(job_ids, Job.Status.PAUSED)
    Job.objects.filter(pk__in=paused).update(status=Job.Status.QUEUED, queued_at=Now())
    Job.objects.filter(pk__in=running, signal=Job.Signal.PAUSE).update(signal=Job.Signal.NONE)
    for job in Job.objects.filter(pk__in=paused):
        transaction.on_commit(partial(get_dispatcher().send, job.pk, Job.Queue(job.queue)))
    return paused


def _running(job_id: UUID, attempt: int) -> QuerySet[Job]:
    return Job.objects.filter(pk=job_id, attempt=attempt, status=Job.Status.RUNNING)


def _lock(job_ids: Sequence[UUID], *idle: Job.Status) -> tuple[set[UUID], set[UUID]]:
    """Lock jobs, in the common order. Returns those with a status in `idle`, and those that run or
    are scheduled."""
    jobs = Job.objects.filter(pk__in=job_ids).order_by("pk").select_for_update()
    statuses = list(jobs.values_list("pk", "status"))

    def of(*wanted: Job.Status) -> set[UUID]:
        return {pk for pk, status in statuses if status in wanted}

    return of(*idle), of(Job.Status.RUNNING, Job.Status.SCHEDULED)
