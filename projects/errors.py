"""The errors of project runs."""

from typing import Any

from common.errors import Conflict, DomainError, NotFound, ValidationFailed
from projects.types import MAX_ATTEMPTS, MAX_RUNS


class RunLimitReached(DomainError):
    """`runs` are those that run: `[{id, title}]`."""

    code, status = "too_many_runs", 429
    message = f"{MAX_RUNS} of your runs are running. Pause or cancel one, or wait for its end."


class InvalidState(Conflict):
    code = "invalid_state"
    message = "The run is not in a state in which this can be done."

    @classmethod
    def of(cls, status: str, act: str) -> "InvalidState":
        """A run of that status for which `act` (a verb) makes no sense."""
        return cls(f"This run is {status}: you cannot {act} it.", session_status=status)


class NothingCompleted(Conflict):
    code = "nothing_completed"
    message = "No part of this run has a result yet. Wait for one, or write one yourself."


class SubtaskRunning(Conflict):
    code = "subtask_running"
    message = "This subtask is being worked on. Reassign it, or wait until it has ended."


class TooManyAttempts(Conflict):
    code = "too_many_attempts"
    message = f"A subtask has at most {MAX_ATTEMPTS} attempts. Begin another run."

    @classmethod
    def of_models(cls) -> "TooManyAttempts":
        """The error for a subtask that models have begun as often as they may."""
        return cls(
            f"Models have done this subtask {MAX_ATTEMPTS} times. Write it yourself, or finish the "
            "run without it."
        )


class UnsoundPlanRefused(ValidationFailed):
    code = "unsound_plan"
    message = "The plan cannot be carried out."

    @classmethod
    def of_faults(cls, faults: list[str]) -> "UnsoundPlanRefused":
        """The error for a plan with these faults, which are sentences."""
        errors: list[dict[str, Any]] = [{"loc": ["subtasks"], "msg": fault} for fault in faults]
        return cls(" ".join(faults), errors=errors)


class RunExecuting(Conflict):
    code = "run_executing"
    message = "The run is still at work. Wait for its end, or pause it and wait for its calls."


class NothingStaged(DomainError):
    code, status = "nothing_staged", 400
    message = "The run has no staged changes."


class NothingConnected(NotFound):
    code = "workspace_not_found"
    message = "This run works on no repository: there is nothing to write to."


class ApplyInProgress(Conflict):
    """`retry_after`: until the order has ended, whatever happens to the process that carries it
    out."""

    code = "apply_in_progress"
    message = "Changes of this run are being written. Wait for the result."


class NoConflict(Conflict):
    code = "no_conflict"
    message = "This file has no conflict. It is applied as it is."


class ConflictChanged(Conflict):
    """The text was not made from the version that the conflict is with."""

    code = "conflict_changed"
    message = "Somebody has changed the file again. Look at its conflict once more."


class ClaimLapsed(Conflict):
    """The host took so long that nothing may be written any more."""

    code = "apply_too_slow"
    message = "The host took too long, and nothing was written. Try again."


class RepositoryUnavailable(DomainError):
    """A step needs files of the repository, which its host does not give."""

    code, status = "repository_unavailable", 502
    message = "The repository cannot be read."


class RepositoryGone(RepositoryUnavailable):
    """The workspace of a run was disconnected: its repository cannot be read any more."""

    code, status = "workspace_not_found", 404
    message = "The workspace of this run has been disconnected: its repository cannot be read."


class UnusableAnswer(DomainError):
    """A step has brought an answer that says nothing of what was asked: it has failed."""

    code, status = "unusable_answer", 502
    message = "The model's answer cannot be used. What it has written is billed."


class NothingHandedIn(DomainError):
    """An author has used up its calls, or what pays for them, without a result: it has failed, and
    its model would do so again."""

    code, status = "nothing_handed_in", 502
    message = (
        "The author has used up its calls of functions, or what pays for them, and has handed in "
        "nothing. What it has written is billed."
    )


class RunHeld(DomainError):
    """A step of a paused run was about to begin: it begins when the run is resumed."""

    code, status = "run_held", 409
    message = "The run is paused."
