"""The words and bounds of project runs."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

# The kind of a run's event stream.
STREAM: Final = "project"
# The kind of the jobs that carry out steps.
JOB: Final = "projects.step"
# The feature that a plan has to include.
FEATURE: Final = "projects"

# Runs of one user that run at once; paused runs do not count.
MAX_RUNS: Final = 3
MAX_SUBTASKS: Final = 12
MAX_PARALLEL: Final = 4
# How often a review may ask for another attempt.
MAX_REVISIONS: Final = 2
# Notes of a subtask: the newest are kept.
MAX_NOTES: Final = 20
# Attempts of models at one subtask, after which its user begins no more, and those of the user.
# Each of them is in its events.
MAX_ATTEMPTS: Final = 30
# How often the step of one slot is started again by itself after its worker died.
MAX_LOSSES: Final = 1
# How often one model tries a step; after that, one of another vendor tries it once.
MAX_TRIES: Final = 3
# Seconds before the second try, and before the third.
PAUSES: Final = (2.0, 8.0)
# How often an answer that the output limit has cut is continued.
MAX_CONTINUATIONS: Final = 8

MAX_GOAL: Final = 20_000
MAX_TITLE: Final = 200
MAX_KEY: Final = 32
MAX_INSTRUCTIONS: Final = 4_000
MAX_ACCEPTANCE: Final = 10
MAX_ACCEPTANCE_POINT: Final = 300
MAX_SUMMARY: Final = 1_000
MAX_WRITES: Final = 50
# Files of a repository that the author of a subtask is shown.
MAX_READS: Final = 30
MAX_ROSTER: Final = 32
MAX_UPLOADS: Final = 20
# Files, and their bytes, that are written to a repository at a time.
MAX_APPLIED_FILES: Final = 250
MAX_APPLIED_BYTES: Final = 10_000_000
MAX_COMMIT_MESSAGE: Final = 2_000
MAX_OUTPUT_TOKENS: Final = 1_000_000  # that a user may set as a bound of each answer
MAX_RESULT: Final = 200_000  # characters of a user's own result
MAX_BUDGET_USD: Final = 10_000
# Of a final text, in answers and events; its download has all of it.
MAX_FINAL_TEXT_BYTES: Final = 200_000


class RunStatus(StrEnum):
    """The status of a run; the last three are final. `queued` until its first step begins."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED: Final = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


class Phase(StrEnum):
    """What a run is at."""

    PLANNING = "planning"
    EXECUTING = "executing"
    REVIEWING = "reviewing"
    FINALIZING = "finalizing"


class PauseReason(StrEnum):
    """Why a run is paused."""

    USER = "user"
    PLAN_REVIEW = "plan_review"
    INSUFFICIENT_BALANCE = "insufficient_balance"
    BUDGET_EXCEEDED = "budget_exceeded"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    REPOSITORY_UNAVAILABLE = "repository_unavailable"
    INTERRUPTED = "interrupted"
    STEP_FAILED = "step_failed"


class SubtaskStatus(StrEnum):
    """The status of a subtask. `skipped`: the run is completed without it."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


# Of subtasks that have ended, and have no result.
WITHOUT_RESULT: Final = frozenset(
    {SubtaskStatus.FAILED, SubtaskStatus.CANCELLED, SubtaskStatus.SKIPPED}
)


class StepKind(StrEnum):
    """One call to a model: what it is for."""

    PLAN = "plan"
    REPAIR = "repair"
    WORK = "work"
    REVIEW = "review"
    REPLY = "reply"
    FINAL = "final"


# Steps whose text is shown while it comes; that of the others is for the run itself.
SHOWN: Final = frozenset({StepKind.WORK, StepKind.FINAL})


class AttemptReason(StrEnum):
    """Why an attempt was begun."""

    INITIAL = "initial"
    RESTART = "restart"
    REVISION = "revision"
    STALE = "stale"
    REASSIGN = "reassign"
    REPLACE = "replace"
    REDO = "redo"
    RETRY = "retry"
    FALLBACK = "fallback"


# Attempts that go on with what the one before has brought.
GOING_ON: Final = frozenset({AttemptReason.RESTART, AttemptReason.RETRY, AttemptReason.FALLBACK})


class Verdict(StrEnum):
    """What a review says of an attempt. `unavailable`: the review failed, or could not be read."""

    ACCEPT = "accept"
    REVISE = "revise"
    UNAVAILABLE = "unavailable"


class AssignedBy(StrEnum):
    """Who chose the model of a subtask."""

    USER = "user"
    PLAN = "plan"
    SPREAD = "spread"
    FALLBACK = "fallback"


class ChangesState(StrEnum):
    """What has become of a run's files. `partially_applied`: some were written, and others are
    staged or were discarded; `discarded`: none was written."""

    EMPTY = "empty"
    STAGED = "staged"
    APPLYING = "applying"
    APPLIED = "applied"
    PARTIALLY_APPLIED = "partially_applied"
    DISCARDED = "discarded"


class MergeState(StrEnum):
    """How a staged file stands to one that somebody else has changed in the repository. `merged`:
    both were written; `resolved`: it was made from theirs."""

    MERGED = "merged"
    CONFLICT = "conflict"
    RESOLVED = "resolved"


class Outcome(StrEnum):
    """What the end of a step means for its run. `lost`: its worker died; `refused`: it was not paid
    for, or could not begin."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    REFUSED = "refused"


class StepsEstimate(Struct, frozen=True, kw_only=True):
    """The calls of one kind, and what would be paid for them, in nano-USD."""

    kind: StepKind
    count: int
    expected: int


class Estimate(Struct, frozen=True, kw_only=True):
    """What a run would cost: most runs are between `low` and `high`. `available` is the free
    balance. All in nano-USD."""

    steps: list[StepsEstimate]
    low: int
    expected: int
    high: int
    available: int
