"""What goes on in a run, in a sentence for its user."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from projects.errors import RepositoryGone
from projects.types import PauseReason, RunStatus, StepKind

_PAUSED = {
    PauseReason.USER: "Paused.",
    PauseReason.PLAN_REVIEW: "Waits for you to look at the plan.",
    PauseReason.INSUFFICIENT_BALANCE: "Paused: plan and balance do not cover the next step.",
    PauseReason.BUDGET_EXCEEDED: "Paused: the run's budget does not cover the next step.",
    PauseReason.PROVIDER_UNAVAILABLE: "Paused: no model could make the plan.",
    PauseReason.REPOSITORY_UNAVAILABLE: "Paused: the repository cannot be read.",
    PauseReason.STEP_FAILED: "Paused: parts, or the final text, could not be made.",
    PauseReason.INTERRUPTED: "Paused: the server was interrupted twice at the same step.",
}
_ADVICE = {
    PauseReason.USER: "Resume it.",
    PauseReason.PLAN_REVIEW: "Look at the plan, change what you like, and resume.",
    PauseReason.INSUFFICIENT_BALANCE: "Add balance, and resume. Nothing is lost.",
    PauseReason.BUDGET_EXCEEDED: "Raise the budget, and resume.",
    PauseReason.PROVIDER_UNAVAILABLE: "Resume later.",
    PauseReason.REPOSITORY_UNAVAILABLE: "Wait for the repository's host, or give the workspace a "
    "new token, and resume.",
    PauseReason.STEP_FAILED: "Resume to try again, or finish the run with what is there. Parts can "
    "also be given to another model, be written by you, or be taken off the plan.",
    PauseReason.INTERRUPTED: "Resume.",
}
_WITHOUT_WORKSPACE: Final = (
    "Its workspace is disconnected for good: write what is missing yourself, finish the run with "
    "what is there, or begin another one."
)
_ENDED = {
    RunStatus.COMPLETED: "Completed.",
    RunStatus.FAILED: "Failed.",
    RunStatus.CANCELLED: "Cancelled.",
}
_OF_THE_RUN = {
    StepKind.PLAN: "Planning.",
    StepKind.REPAIR: "Planning again: the first plan could not be carried out.",
    StepKind.REPLY: "The planner reads your message.",
    StepKind.FINAL: "Writing the final text.",
}


def advice_of(pause_reason: str, error: Mapping[str, Any] | None) -> str | None:
    """What lets a run go on that is paused for this reason, with this error; None where it is not
    paused."""
    if not pause_reason:
        return None
    if error is not None and error["code"] == RepositoryGone.code:
        return _WITHOUT_WORKSPACE
    return _ADVICE[PauseReason(pause_reason)]


def activity_of(
    status: RunStatus,
    pause_reason: str,
    active: Sequence[tuple[StepKind, str]],
) -> str:
    """The sentence. `active` are the steps that wait or run: kind, and title of the subtask."""
    if status in _ENDED:
        return _ENDED[status]
    sentences = [_PAUSED[PauseReason(pause_reason)]] if status == RunStatus.PAUSED else []
    sentences += [_OF_THE_RUN[kind] for kind in _OF_THE_RUN if (kind, "") in active]
    for kind, verb in ((StepKind.WORK, "Working on"), (StepKind.REVIEW, "Reviewing")):
        titles = [f"“{title}”" for each, title in active if each == kind]
        if titles:
            sentences.append(f"{verb} {_joined(titles)}.")
    return " ".join(sentences) or "Waits for its turn."


def _joined(titles: Sequence[str]) -> str:
    *others, last = titles
    return f"{', '.join(others)} and {last}" if others else last
