"""What the failure of a step means for its run."""

from ai.inference.errors import CallCancelled, CallInterrupted
from billing.errors import GroupBudgetExceeded, PaymentRequired
from common.errors import DomainError, ServiceUnavailable
from projects.errors import RepositoryUnavailable, RunHeld
from projects.types import Outcome, PauseReason, StepKind

# Steps whose run cannot go on without them, and does not end because of a provider.
_WAITING = frozenset({StepKind.PLAN, StepKind.REPAIR})
_PROVIDER = frozenset(
    {"provider_unavailable", "upstream_error", "no_text", "invalid_body", "input_too_long"}
    | {"content_blocked", "rate_limit_exceeded"}
)


def outcome_of(kind: StepKind, failure: DomainError | None) -> Outcome:
    """The outcome of a step of that kind that ended with this failure, or with none."""
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
        case _ if kind in _WAITING:
            return Outcome.REFUSED
        case _:
            return Outcome.FAILED


def pause_reason_of(code: str) -> PauseReason:
    """Why a run is paused whose step was refused with that code."""
    if code == GroupBudgetExceeded.code:
        return PauseReason.BUDGET_EXCEEDED
    if code == RepositoryUnavailable.code:
        return PauseReason.REPOSITORY_UNAVAILABLE
    if code in _PROVIDER:
        return PauseReason.PROVIDER_UNAVAILABLE
    return PauseReason.INSUFFICIENT_BALANCE
