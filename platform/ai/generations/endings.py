"""How streamed calls end: text, status, charge, job and last event in one transaction."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar
from uuid import UUID

from django.db import transaction
from msgspec import Struct
from msgspec.structs import replace

from ai.generations.types import Completion, Text
from ai.inference.errors import CallCancelled, CallInterrupted, failure_of
from billing.services import endings
from billing.types import KEPT, Ending, Resolution
from common.errors import DomainError
from work.jobs import services as jobs
from work.jobs.models import Job
from work.jobs.selectors import is_open, is_unwanted

# The row that a call writes, and the view of that row in the last event.
Row = TypeVar("Row")
View = TypeVar("View")


class Output(ABC, Generic[Row, View]):
    """Where the calls of one kind of job write. Each method runs in the transaction of an end.

    A call, its job and its charge have one id. `row` is None where it was deleted meanwhile.
    """

    @abstractmethod
    def lock(self, call_id: UUID) -> Row | None:
        """Lock the row of a call and the conversation or council that it belongs to, and return the
        row."""

    @abstractmethod
    def is_open(self, call_id: UUID, row: Row | None) -> bool:
        """Whether the end of the call has not been written yet."""

    @abstractmethod
    def text_in_log(self, row: Row) -> Text:
        """The text of a running call in the stream."""

    @abstractmethod
    def write_end(self, call_id: UUID, row: Row | None, completion: Completion) -> View | None:
        """Write the end, and append its events. Returns the `view` of the row."""

    def view(self, row: Row | None) -> View | None:
        """The row as the last event shows it."""
        return None

    def write_cost(self, row: Row) -> None:
        """Append the cost of a call whose end was written before the cost was known."""


class Ended(Struct, Generic[View], frozen=True):
    """A call that has ended."""

    resolution: Resolution
    view: View | None


def conclude(
    output: Output[Row, View],
    *,
    call_id: UUID,
    attempt: int,
    ending: Ending,
    completion: Completion,
) -> Ended[View]:
    """End a call with its charge. Safe to repeat."""
    if ending.failure is None and completion.failure is not None:
        # The call went well, but what it brought is no answer.
        ending = replace(ending, failure=failure_of(completion.failure))
    with transaction.atomic():
        resolution = endings.resolve(ending)
        row = output.lock(call_id)
        if resolution.taken_over:
            completion = replace(completion, failure=CallInterrupted())
        view = _end(output, call_id, attempt, row, completion)
        if transaction.get_rollback():
            resolution = KEPT
        return Ended(resolution, view)


@transaction.atomic
def release_readers(
    output: Output[Row, View], *, call_id: UUID, attempt: int, completion: Completion
) -> View | None:
    """Write the end of a cancelled call, with its text so far, while the call continues until its
    cost is known. `conclude` or `give_up` then ends the charge and the job, and appends the
    cost."""
    row = output.lock(call_id)
    is_ours = jobs.is_running(job_id=call_id, attempt=attempt)
    if is_ours and output.is_open(call_id, row):
        return output.write_end(call_id, row, completion)
    return output.view(row)


@transaction.atomic
def give_up(
    output: Output[Row, View], *, call_id: UUID, attempt: int, failure: DomainError
) -> View | None:
    """End a call that was never started, or whose process has died, with the text in the stream and
    at the last checkpoint of its charge. The call is `cancelled` if its user had asked for that,
    otherwise failed."""
    endings.expire(call_id, failure_of(failure))
    row = output.lock(call_id)
    # This locks the job: from now on nothing is appended to the stream, and no user cancels the
    # call.
    is_ours = jobs.is_running(job_id=call_id, attempt=attempt)
    completion = Completion(failure=CallCancelled() if is_unwanted(call_id) else failure)
    if is_ours and row is not None and output.is_open(call_id, row):
        content, reasoning = output.text_in_log(row)
        completion = replace(completion, content=content, reasoning=reasoning)
    return _end(output, call_id, attempt, row, completion)


def _end(
    output: Output[Row, View],
    call_id: UUID,
    attempt: int,
    row: Row | None,
    completion: Completion,
) -> View | None:
    """End the job, and write the end of the call unless it is written. Where the job was lost and
    starts again, the transaction is rolled back: the hold is kept for the next attempt."""
    is_ours = jobs.end(job_id=call_id, attempt=attempt, status=Job.Status(completion.status))
    if is_ours and output.is_open(call_id, row):
        return output.write_end(call_id, row, completion)
    if is_ours and row is not None:
        output.write_cost(row)
    view = output.view(row)
    if not is_ours and is_open(call_id):
        transaction.set_rollback(True)
    return view
