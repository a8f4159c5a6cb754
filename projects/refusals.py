"""What the failure of a step means for its run."""

from ai.inference.errors import CallCancelled, CallInterrupted
from billing.errors import GroupBudgetExceeded, PaymentRequired
from common.errors import DomainError, ServiceUnavailable
from projects.errors import RepositoryUnavailable, RunHeld, UnusableAnswer
from projects.types import Outcome, PauseReason

# Failures that pass: of the connection, of the provider, or of this one answer.
_PASSING = frozenset({"upstream_error", "no_text", UnusableAnswer.code})


def outcome_of(failure: DomainError | None) -> Outcome:
    """The outcome of a step that ended with this failure, or with none."""
    match failure:
        case None:
            return Outcome.DONE
        case CallCancelled():
            return Outcome.CANCELLED
        # A worker that drains, or is full, ends no subtask.
        case CallInterrupted() | ServiceUnavailable():
            return Outcome.LOST
        case PaymentRequired() | RunHeld() | RepositoryUnavailable():
            return Outcome.REFUSED
        case _:
            return Outcome.FAILED


def is_repeatable(code: str) -> bool:
    """Whether the model of a step that failed with that code may do better another time. What it
    refuses, it refuses again; and one that is not called now is waited for before that."""
    return code in _PASSING


def pause_reason_of(code: str) -> PauseReason:
    """Why a run is paused whose step was refused with that code."""
    if code == GroupBudgetExceeded.code:
        return PauseReason.BUDGET_EXCEEDED
    if code == RepositoryUnavailable.code:
        return PauseReason.REPOSITORY_UNAVAILABLE
    return PauseReason.INSUFFICIENT_BALANCE
