"""Beginning and ending operations, in transactions with the rows of the app."""

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from ai.inference.errors import failure_of
from ai.inference.holds import hold_request
from ai.operations import models
from ai.operations.errors import OperationCancelled, OperationInterrupted
from ai.operations.transitions import CLOSING
from ai.operations.types import End, OperationCall, State
from billing.services import endings
from billing.services.holds import hold_for_job
from billing.types import KEPT, Ending, Resolution
from work.jobs import services as jobs
from work.jobs.models import Job
from work.jobs.selectors import is_open


class Output(ABC):
    """Where the operations of one kind of job write. Each method runs in the transaction of an
    end."""

    @abstractmethod
    def lock(self, operation_id: UUID) -> None:
        """Lock the app's rows of an operation."""

    @abstractmethod
    def write_end(self, operation_id: UUID, end: End) -> None:
        """Write the end, and append its events."""


def start(
    *,
    call: OperationCall,
    operation_id: UUID,
    request: dict[str, Any],
    kind: str,
    account: User,
    queue: Job.Queue = Job.Queue.MEDIA,
) -> None:
    """Hold for an operation, and have workers carry it out once the transaction is committed.

    The hold is kept until the provider's verdict, or a few minutes after `call.total_seconds`. The
    first statement of the transaction, because it locks the wallet; several may follow one another.
    Raises what a hold raises.
    """
    hold_for_job(
        hold_request(call, operation_id, charge_id=operation_id, waits=CLOSING.total_seconds())
    )
    provider = call.model.provider
    jobs.enqueue(job_id=operation_id, kind=kind, account=account, queue=queue, provider=provider)
    models.Operation.objects.create(
        pk=operation_id,
        provider=provider,
        request=request,
        deadline_at=timezone.now() + timedelta(seconds=call.total_seconds),
    )


@transaction.atomic
def conclude(
    output: Output, *, operation_id: UUID, attempt: int, ending: Ending, end: End
) -> Resolution:
    """End an operation with its charge. Safe to repeat."""
    resolution = endings.resolve(ending)
    if resolution.taken_over and end.status == "completed":
        # The hold has lapsed. What is not paid is not delivered.
        end = End("failed", OperationInterrupted(), is_unreconciled=True)
    _end(output, operation_id, attempt, end)
    return KEPT if transaction.get_rollback() else resolution


@transaction.atomic
def give_up(output: Output, *, operation_id: UUID, attempt: int) -> None:
    """End an operation that takes its processes down with it."""
    failure = OperationInterrupted()
    endings.expire(operation_id, failure_of(failure))
    _end(output, operation_id, attempt, End("failed", failure, is_unreconciled=True))


def cancel(output: Output, *, account: User, operation_id: UUID) -> None:
    """Cancel an operation within the caller's transaction, which holds the wallet. One that has not
    begun ends at once; another one is cancelled at the provider, and ends by itself."""
    output.lock(operation_id)
    if operation_id not in jobs.cancel(job_ids=[operation_id]):
        return
    failure = OperationCancelled()
    endings.resolve(Ending(operation_id, account.pk, "released", failure=failure_of(failure)))
    models.Operation.objects.filter(pk=operation_id).update(state=State.ENDED)
    output.write_end(operation_id, End("cancelled", failure))


def blank_request(*, operation_id: UUID) -> None:
    """Blank what was asked for by an operation that has ended, within the caller's transaction."""
    models.Operation.objects.filter(pk=operation_id, state=State.ENDED).update(request={})


def _end(output: Output, operation_id: UUID, attempt: int, end: End) -> None:
    """End the job, and write the end. Where another attempt has the job, the transaction is rolled
    back: the hold is kept for that attempt."""
    output.lock(operation_id)
    if jobs.end(job_id=operation_id, attempt=attempt, status=Job.Status(end.status)):
        models.Operation.objects.filter(pk=operation_id).update(
            state=State.ENDED, is_unreconciled=end.is_unreconciled
        )
        output.write_end(operation_id, end)
    elif is_open(operation_id):
        transaction.set_rollback(True)
