"""The handler of jobs that wait for a provider's operation."""

import asyncio
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from random import SystemRandom
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec
import structlog
from django.utils import timezone
from msgspec.structs import replace

from ai.inference import reports
from ai.inference.availability import acquire_permit_of_accepted
from ai.inference.settlement import carry_out
from ai.operations import services, steps
from ai.operations.errors import OperationInterrupted, OutOfTime
from ai.operations.traces import traced
from ai.operations.transitions import CLOSING, after, next_step
from ai.operations.types import (
    Continue,
    End,
    Fetched,
    Operation,
    OperationCall,
    Outcome,
    Refused,
    State,
    Step,
    TurnedAway,
    Unanswered,
    Unusable,
)
from ai.provider_health.errors import ProviderNotAvailable
from ai.provider_health.permit import Permit
from ai.providers.errors import ProviderError
from ai.providers.operations import Accepted, Delivered, OperationWire, Succeeded, Unknown
from billing.types import Ending
from billing.units import Units
from common.backoff import backoff
from common.database import DatabaseUnavailable, get_database
from common.errors import DomainError, ServiceUnavailable
from common.threads import in_thread
from work.jobs.handlers import Handler, RecoveryAction
from work.jobs.models import Job
from work.jobs.running import JobLost, RunningJob

log = structlog.get_logger(__name__)

_LOAD = "SELECT request, to_jsonb(o) - 'request' FROM operations_operation o WHERE job_id = %s"
_SAVE = "SELECT operation_save(%s, %s, %s, %s)"
# Seconds before a step is saved again after the database has not answered.
SAVE_PAUSES = (0.1, 0.2, 0.5, 1.0)
# Seconds before the end of an operation that are kept for results which the submission brings.
FETCH_SECONDS = 60.0

_random = SystemRandom()

AnyCall = TypeVar("AnyCall", bound=OperationCall)


class OperationHandler(Handler, services.Output, Generic[AnyCall]):
    """Carries out operations of one kind. An app brings what is abstract here, and begins them by
    `ai.operations.services.start`."""

    @abstractmethod
    async def call_of(self, job: RunningJob, request: dict[str, Any]) -> AnyCall:
        """The call, as it was when the operation began."""

    @abstractmethod
    def wire_of(self, call: AnyCall) -> OperationWire[Any] | None:
        """The provider's wire, None where the provider is not configured any more."""

    @asynccontextmanager
    async def order_of(self, call: AnyCall) -> AsyncGenerator[Any, None]:
        """What the wire submits. It may be large, and is let go of with the context. Raises, on
        entering, ServiceUnavailable for faults of ours that pass, and other DomainErrors for an
        order that cannot be placed."""
        yield call

    @abstractmethod
    async def fetch(
        self, operation_id: UUID, call: AnyCall, result: Succeeded | Delivered
    ) -> Fetched | Unusable | Unknown:
        """Copy the results into our storage, and check what they are. `Unknown` where their URLs do
        not work any more. Raises ProviderErrors, and DomainErrors for faults of ours: both are
        tried again, where the provider still has the results."""

    def bill_of(self, call: AnyCall, result: Succeeded | None, end: End) -> tuple[int, Units]:
        """What a completed operation costs, in nano-USD at cost, and the units that are billed.
        `result` is None where the submission itself has brought the results."""
        return call.cost_of(result), call.units

    async def begin(self, job: RunningJob) -> None:
        """Show that the operation is about to be submitted. May be repeated."""

    async def report_progress(self, job: RunningJob, before: Operation, after: Operation) -> None:
        """Show how far the operation has come, after each step that does not end it."""

    # --- The job's side ---------------------------------------------------------------------------

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        return RecoveryAction.CONTINUE

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        services.give_up(self, operation_id=job_id, attempt=attempt)

    async def run(self, job: RunningJob) -> None:
        """Take steps until the operation has to wait, or has ended."""
        request, operation = await _load(job.id)
        call = await self.call_of(job, request)
        following: Continue | End = Continue(operation)
        while isinstance(following, Continue) and following.seconds is None:
            operation = following.operation
            if job.signal == Job.Signal.CANCEL:
                operation = replace(operation, is_cancelled=True)
            following = await self._advance(job, call, operation)
            if isinstance(following, Continue):
                await _save(job, following)
                await self.report_progress(job, operation, following.operation)
        # An end that could not be written is that of a job left running: it continues later.
        job.ended = isinstance(following, Continue) or await self._end(
            job, call, operation, following
        )

    async def _advance(
        self, job: RunningJob, call: AnyCall, operation: Operation
    ) -> Continue | End:
        """Take the next step, and say what follows."""
        wire = self.wire_of(call)
        step = next_step(operation, timezone.now())
        if isinstance(step, End):
            return step
        if wire is None:
            missing = ProviderNotAvailable()
            if step is Step.SUBMIT:
                return End("failed", missing)
            return self._after(call, operation, Unanswered(missing))
        if step is Step.SUBMIT:
            return await self._acquire(job, call, wire, operation)
        if step is Step.FETCH:
            result = cast(Succeeded, operation.result)
            outcome = await self._try_to_fetch(job.id, call, operation, result)
        else:
            outcome = await traced(call, step, steps.ask(wire, step, operation))
        return self._after(call, operation, outcome)

    async def _acquire(
        self, job: RunningJob, call: AnyCall, wire: OperationWire[Any], operation: Operation
    ) -> Continue | End:
        """Submit the operation where the provider may be called. Where it may not, the operation
        waits: it is ordered and paid for, and its deadline is minutes away."""
        try:
            permit = await acquire_permit_of_accepted(call)
        except ProviderNotAvailable as refusal:
            return self._after(call, operation, TurnedAway(refusal))
        try:
            return await self._submit(job, call, permit, wire, operation)
        finally:
            permit.release()

    async def _submit(
        self,
        job: RunningJob,
        call: AnyCall,
        permit: Permit,
        wire: OperationWire[Any],
        operation: Operation,
    ) -> Continue | End:
        # The mark of a submission that may have reached the provider.
        submitting = replace(operation, state=State.SUBMITTING, submitted_at=timezone.now())
        outcome = await self._place(job, call, permit, wire, submitting)
        if isinstance(outcome, Delivered):
            outcome = await self._try_to_fetch(job.id, call, submitting, outcome)
            if isinstance(outcome, Unanswered):
                # The provider keeps nothing that could be fetched later.
                return End("failed", OperationInterrupted(), is_unreconciled=True)
        return outcome if isinstance(outcome, End) else self._after(call, submitting, outcome)

    async def _place(
        self,
        job: RunningJob,
        call: AnyCall,
        permit: Permit,
        wire: OperationWire[Any],
        submitting: Operation,
    ) -> Outcome | Delivered | End:
        """Submit the order, once the mark is saved."""
        async with AsyncExitStack() as held:
            try:
                order = await held.enter_async_context(self.order_of(call))
            except ServiceUnavailable as error:
                return TurnedAway(error)
            except DomainError as error:
                return End("failed", error)
            await self.begin(job)
            await _save(job, Continue(submitting))
            if timezone.now() >= submitting.deadline_at:
                return End("failed", OutOfTime())
            # What the answer brings is stored before the hold lapses.
            left = _seconds_left(submitting) - FETCH_SECONDS
            seconds = min(call.submission_seconds, left)
            began_at = time.monotonic()
            submitting_it = steps.submit(wire, order, job.id, seconds=seconds)
            outcome = await traced(call, Step.SUBMIT, submitting_it)
            _report_health(permit, outcome, call, time.monotonic() - began_at)
            return outcome

    async def _try_to_fetch(
        self, job_id: UUID, call: AnyCall, operation: Operation, result: Succeeded | Delivered
    ) -> Outcome:
        fetching = self._fetch_in_time(job_id, call, operation, result)
        return await traced(call, Step.FETCH, fetching)

    async def _fetch_in_time(
        self, job_id: UUID, call: AnyCall, operation: Operation, result: Succeeded | Delivered
    ) -> Outcome:
        """Fetch the results within the time of the hold."""
        try:
            async with asyncio.timeout(_seconds_left(operation)):
                return await self.fetch(job_id, call, result)
        except (ProviderError, DomainError) as error:
            return Unanswered(error)
        except TimeoutError:
            return Unanswered(OutOfTime())

    def _after(self, call: AnyCall, operation: Operation, outcome: Outcome) -> Continue | End:
        match outcome:
            case TurnedAway(ProviderError() as error) | Unanswered(ProviderError() as error):
                reports.report_failure(call, error, after_output=False, again=True)
        return after(operation, outcome, timezone.now(), chance=_random.random())

    async def _end(self, job: RunningJob, call: AnyCall, operation: Operation, end: End) -> bool:
        """End the operation with its charge. False where the database stays away for too long."""
        attempts = 1 if operation.submitted_at else 0
        if end.cause is not None:
            reports.report_failure(call, end.cause, after_output=False, again=False)
        if end.failure is None:
            cost, units = self.bill_of(call, operation.result, end)
            ending = Ending(job.id, call.account_id, "settled", cost, units)
        else:
            explained = reports.explain(call, end.failure, end.cause, attempts)
            ending = Ending(job.id, call.account_id, "released", failure=explained)
        resolution = await carry_out(
            ending,
            lambda: in_thread(
                services.conclude,
                self,
                operation_id=job.id,
                attempt=job.attempt,
                ending=ending,
                end=end,
            ),
        )
        reports.report_end(
            call,
            job.id,
            status=resolution.status if resolution else "open",
            error=end.failure,
            attempts=attempts,
            ending=ending,
            resolution=resolution,
            first_output_seconds=None,
            total_seconds=_seconds_since_order(operation, call),
        )
        return resolution is not None


def _report_health(
    permit: Permit, outcome: Outcome | Delivered, call: OperationCall, seconds: float
) -> None:
    """What a submission says of the health of its provider."""
    match outcome:
        case Accepted() | Delivered():
            permit.served(first=None, total=seconds)
        case TurnedAway(ProviderError() as error) | Unanswered(ProviderError() as error):
            permit.failed(error, call.request_id)
        case Refused(error):
            permit.failed(error, call.request_id)


def _seconds_left(operation: Operation) -> float:
    """The seconds until the operation is over. Its hold lapses a little later."""
    return (operation.deadline_at + CLOSING - timezone.now()).total_seconds()


def _seconds_since_order(operation: Operation, call: OperationCall) -> float:
    ordered_at = operation.deadline_at - timedelta(seconds=call.total_seconds)
    return (timezone.now() - ordered_at).total_seconds()


async def _load(job_id: UUID) -> tuple[dict[str, Any], Operation]:
    """The request of an operation, and how far it has come."""
    request, row = await get_database().row(_LOAD, (job_id,))
    return request, msgspec.convert(row, Operation)


async def _save(job: RunningJob, following: Continue) -> None:
    """Save how far the operation has come, and schedule the job where it has to wait; repeat that
    until the database answers. Raises JobLost."""
    operation = msgspec.json.encode(following.operation).decode()
    for pause in backoff(*SAVE_PAUSES):
        try:
            (is_ours,) = await get_database().row(
                _SAVE, (job.id, job.attempt, operation, following.seconds)
            )
        except DatabaseUnavailable:
            log.warning("operation.not_saved", job_id=str(job.id))
            await asyncio.sleep(pause)
            continue
        if not is_ours:
            raise JobLost
        return
