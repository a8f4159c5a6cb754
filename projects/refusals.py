"""What the failure of a step means for its run."""

from typing import Any, Final

from ai.inference.errors import (
    CallCancelled,
    CallInterrupted,
    ContentBlocked,
    InputTooLong,
    NoText,
    RequestRefusedByProvider,
)
from billing.errors import GroupBudgetExceeded, PaymentRequired
from common.errors import DomainError, ServiceUnavailable
from projects.errors import RepositoryGone, RepositoryUnavailable, RunHeld, UnusableAnswer
from projects.types import Outcome, PauseReason

# Failures that pass: of the connection, of the provider, or of this one answer.
_PASSING = frozenset({"upstream_error", NoText.code, UnusableAnswer.code})
# What the same request meets again.
_LASTING: Final = frozenset({RequestRefusedByProvider.code, ContentBlocked.code, InputTooLong.code})
# What can be done in a run, where calls elsewhere are regenerated.
_WORDS: Final = {
    NoText.code: "The model has ended without writing anything. What it used is billed. Where no "
    "other try brings more, resume the run, or give the part to another model.",
    CallInterrupted.code: "The server was interrupted. What had been written is kept and billed, "
    "and the run goes on, by itself or when it is resumed.",
}


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


def reworded_for_runs(error: dict[str, Any] | None) -> dict[str, Any] | None:
    """The error of a call, with what can be done about it in a run."""
    if error is None or error["code"] not in _WORDS:
        return error
    return {**error, "message": _WORDS[error["code"]]}


def may_be_sent_again(code: str) -> bool:
    """Whether the message may be answered when it is sent again, whose reply failed with that
    code."""
    return code not in _LASTING


def is_repeatable(code: str) -> bool:
    """Whether the model of a step that failed with that code may do better another time. What it
    refuses, it refuses again; and one that is not called now is waited for before that."""
    return code in _PASSING


def pause_reason_of(code: str) -> PauseReason:
    """Why a run is paused whose step was refused with that code."""
    if code == GroupBudgetExceeded.code:
        return PauseReason.BUDGET_EXCEEDED
    if code in (RepositoryUnavailable.code, RepositoryGone.code):
        return PauseReason.REPOSITORY_UNAVAILABLE
    return PauseReason.INSUFFICIENT_BALANCE
