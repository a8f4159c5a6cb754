"""The state machine of an operation: pure functions, without a clock or a database.

    PLANNED ──> SUBMITTING ──> RUNNING ──> FETCHING ──> end
                                  │           ^
                                  └> CANCELLING

An operation is submitted once. Where the answer to the submission is lost, or of no use, it ends
unbilled, for an operator to reconcile: no provider looks an operation up by our reference. Only the
provider's verdict or a deadline ends an operation, and never a failed step.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from ai.inference.errors import ContentBlocked, ResultUnusable, UpstreamFailed, meaning_of
from ai.operations.errors import (
    OperationCancelled,
    OperationFailed,
    OperationGone,
    OutOfTime,
    SubmissionLost,
)
from ai.operations.types import (
    CancelAsked,
    Continue,
    End,
    Fetched,
    Operation,
    Outcome,
    Refused,
    State,
    Step,
    TurnedAway,
    Unanswered,
    Unusable,
)
from ai.providers.errors import AnswerUnusable, UpstreamError
from ai.providers.operations import Accepted, Cancelled, Failed, Pending, Succeeded, Unknown
from common.errors import DomainError

# The time after the deadline in which an operation is cancelled, and the provider's verdict
# fetched.
CLOSING = timedelta(minutes=5)
# So many answers in a row that an operation is unknown are believed: providers list an operation
# late, and their servers do not all know it at once.
MAX_UNKNOWNS = 5
# Seconds between two polls where the provider gives no advice: a tenth of the time so far.
SHORTEST_PAUSE, LONGEST_PAUSE = 2.0, 15.0
# Seconds after failed steps in a row.
RETRY_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# So many cancellations in a row that fail, until the operation is polled once.
CANCELS_PER_POLL = 3
# The longest pause that a provider may ask for, in seconds.
MAX_ADVICE = 300.0
# The share of each pause that chance may add, so that operations do not stay in step.
JITTER = 0.2


def next_step(operation: Operation, now: datetime) -> Step | End:
    """What is to be done now. The caller saves SUBMITTING before it submits: whoever finds that
    later does not know whether the provider has begun, and no provider can be asked for it."""
    is_late = now >= operation.deadline_at
    match operation.state:
        case State.PLANNED:
            if operation.is_cancelled:
                return End("cancelled", OperationCancelled())
            return End("failed", OutOfTime()) if is_late else Step.SUBMIT
        case State.SUBMITTING:
            return _unreconciled(operation, SubmissionLost())
        case State.ENDED:
            raise ValueError("An operation that has ended has no next step.")
        case _ if now >= operation.deadline_at + CLOSING:
            return _unreconciled(operation, OutOfTime())
        case State.RUNNING:
            return _cancel_or_poll(operation) if is_late or operation.is_cancelled else Step.POLL
        case State.CANCELLING:
            return Step.POLL
        case State.FETCHING:
            return Step.FETCH


def _cancel_or_poll(operation: Operation) -> Step:
    """A provider may refuse to cancel: its verdict is asked for in between."""
    attempt = operation.failures % (CANCELS_PER_POLL + 1)
    return Step.POLL if attempt == CANCELS_PER_POLL else Step.CANCEL


def after(
    operation: Operation, outcome: Outcome, now: datetime, *, chance: float
) -> Continue | End:
    """What follows from the outcome of a step. `chance`, from 0 to 1, varies the pauses."""
    match outcome:
        case TurnedAway(error):
            planned = replace(operation, state=State.PLANNED, submitted_at=None)
            return _after_failure(planned, error, chance)
        case Unanswered(AnswerUnusable()) if operation.state == State.SUBMITTING:
            return _unreconciled(operation, ResultUnusable())
        case Unanswered(error):
            return _after_failure(operation, error, chance)
        case Unknown():
            return _after_unknown(operation, chance)
        case Accepted() | Pending() | Succeeded() | CancelAsked():
            # The URL of a result that a poll names may have expired already.
            is_known = isinstance(outcome, Accepted | Pending)
            unknowns = 0 if is_known else operation.unknowns
            answered = replace(operation, failures=0, unknowns=unknowns)
            return _after_answer(answered, outcome, now, chance)
        case _:
            return _end_of(operation, outcome)


def _after_answer(
    operation: Operation,
    answer: Accepted | Pending | Succeeded | CancelAsked,
    now: datetime,
    chance: float,
) -> Continue:
    match answer:
        case Accepted(provider_id, poll_after):
            running = replace(operation, state=State.RUNNING, provider_id=provider_id)
            return Continue(running, _pause(running, now, poll_after, chance))
        case Pending(progress, poll_after):
            pending = replace(operation, progress=progress)
            return Continue(pending, _pause(pending, now, poll_after, chance))
        case Succeeded():
            return Continue(replace(operation, state=State.FETCHING, result=answer))
        case CancelAsked():
            return Continue(replace(operation, state=State.CANCELLING), SHORTEST_PAUSE)


def _end_of(
    operation: Operation, outcome: Fetched | Refused | Unusable | Failed | Cancelled
) -> End:
    match outcome:
        case Fetched(outputs):
            return End("completed", outputs=outputs)
        case Refused(error):
            return End("failed", meaning_of(error), error)
        case Unusable(reason):
            cause = UpstreamError(reason, retryable=False)
            return End("failed", ResultUnusable(), cause, is_unreconciled=True)
        case Failed(message, codes, blocked):
            cause = UpstreamError(message, retryable=False)
            cause.codes = codes
            failure = ContentBlocked(message) if blocked else OperationFailed()
            return End("failed", failure, cause)
        case Cancelled():
            if operation.is_cancelled:
                return End("cancelled", OperationCancelled())
            is_late = operation.state == State.CANCELLING
            return End("failed", OutOfTime() if is_late else OperationFailed())


def _after_failure(operation: Operation, error: Exception, chance: float) -> Continue:
    """Take the step again later."""
    pause = RETRY_PAUSES[min(operation.failures, len(RETRY_PAUSES) - 1)]
    advice = error.retry_after if isinstance(error, UpstreamError | DomainError) else None
    if advice is not None:
        pause = max(pause, min(advice, MAX_ADVICE))
    failed = replace(operation, failures=operation.failures + 1)
    return Continue(failed, pause * (1 + JITTER * chance))


def _after_unknown(operation: Operation, chance: float) -> Continue | End:
    """Of a poll, or results whose URL does not work any more: a poll brings a new one."""
    unknowns = operation.unknowns + 1
    if unknowns >= MAX_UNKNOWNS:
        return _unreconciled(operation, OperationGone())
    state = State.RUNNING if operation.state == State.FETCHING else operation.state
    pause = RETRY_PAUSES[min(unknowns, len(RETRY_PAUSES) - 1)]
    again = replace(operation, state=state, failures=0, unknowns=unknowns)
    return Continue(again, pause * (1 + JITTER * chance))


def _pause(operation: Operation, now: datetime, advice: float | None, chance: float) -> float:
    """Seconds to the next poll."""
    if advice is not None:
        return min(max(advice, 0.1), MAX_ADVICE) * (1 + JITTER * chance)
    age = (now - operation.submitted_at).total_seconds() if operation.submitted_at else 0.0
    return min(max(age / 10, SHORTEST_PAUSE), LONGEST_PAUSE) * (1 + JITTER * chance)


def _unreconciled(operation: Operation, failure: UpstreamFailed) -> End:
    if operation.is_cancelled:
        return End("cancelled", OperationCancelled(), is_unreconciled=True)
    return End("failed", failure, is_unreconciled=True)
