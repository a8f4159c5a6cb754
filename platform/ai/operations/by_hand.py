"""What operators do for an operation by hand: within the transaction of the operator's action."""

from uuid import UUID

from django.db.models.functions import Now

from ai.inference.errors import failure_of
from ai.operations.errors import OperationFailed
from ai.operations.models import Operation
from ai.operations.services import Output
from ai.operations.types import End, State
from billing.services import endings, idempotency
from billing.types import Ending
from common.errors import Conflict
from work.jobs.handlers import get_handler
from work.jobs.models import Job

_WAITS = (Job.Status.QUEUED, Job.Status.SCHEDULED)


class OperationBusy(Conflict):
    message = "A worker takes a step of this operation. Try again in a few seconds."


def look_up(operation_id: UUID) -> bool:
    """Let a worker ask the provider at once. Does the operation wait to be polled?"""
    waiting = Job.objects.filter(pk=operation_id, status=Job.Status.SCHEDULED)
    return waiting.update(due_at=Now()) == 1


def fail(operation_id: UUID) -> bool:
    """End an operation as failed and release its charge. False where it has ended. Raises
    OperationBusy."""
    begun = Job.objects.select_related("account").get(pk=operation_id)
    # The wallet comes before all other locks.
    idempotency.claim(account=begun.account, request_key=None)
    output = get_handler(begun.kind)
    assert isinstance(output, Output)  # noqa: S101 - operations are carried out by nothing else
    output.lock(operation_id)
    job = Job.objects.select_for_update().get(pk=operation_id)
    if job.ended_at is not None:
        return False
    if job.status not in _WAITS:
        raise OperationBusy
    failure = OperationFailed()
    endings.resolve(Ending(operation_id, job.account_id, "released", failure=failure_of(failure)))
    # The provider may finish it all the same. The row is read under the lock of its job: a worker
    # may have submitted it a moment ago.
    submitted = Operation.objects.filter(pk=operation_id, submitted_at__isnull=False)
    is_unreconciled = submitted.exists()
    Job.objects.filter(pk=operation_id).update(status=Job.Status.FAILED, ended_at=Now())
    Operation.objects.filter(pk=operation_id).update(
        state=State.ENDED, is_unreconciled=is_unreconciled
    )
    output.write_end(operation_id, End("failed", failure, is_unreconciled=is_unreconciled))
    return True


def settle(operation_id: UUID) -> bool:
    """Note that an operation which may have been done at our cost is reconciled with the provider's
    bill. False where it was not open."""
    open_ones = Operation.objects.filter(pk=operation_id, is_unreconciled=True)
    return open_ones.update(is_unreconciled=False) == 1
