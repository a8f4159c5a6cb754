"""An operation as its steps see it, and what the steps bring."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from ai.inference.types import Call
from ai.providers.errors import ProviderError
from ai.providers.operations import Accepted, Cancelled, Failed, Pending, Succeeded, Unknown
from billing.units import Units
from common.errors import DomainError

EndStatus = Literal["completed", "failed", "cancelled"]


class State(StrEnum):
    """How far an operation has come.

    PLANNED: nothing was sent. SUBMITTING: it may have been submitted. RUNNING: the provider has
    given an id. CANCELLING: the provider was asked to cancel it. FETCHING: the results are ready.
    """

    PLANNED = "planned"
    SUBMITTING = "submitting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FETCHING = "fetching"
    ENDED = "ended"


class Step(StrEnum):
    """What a worker does next for an operation."""

    SUBMIT = "submit"
    POLL = "poll"
    CANCEL = "cancel"
    FETCH = "fetch"


class Operation(Struct, frozen=True, kw_only=True):
    """An operation between two steps: the row of `ai.operations.models.Operation`.

    `failures` counts the steps since the last one that the provider answered, `unknowns` the
    answers in a row that the provider knows no such operation. `is_cancelled`: the user has
    cancelled it.
    """

    state: State
    deadline_at: datetime
    provider_id: str = ""
    submitted_at: datetime | None = None
    is_cancelled: bool = False
    progress: float | None = None
    failures: int = 0
    unknowns: int = 0
    result: Succeeded | None = None


# --- The outcomes of steps ------------------------------------------------------------------------


class TurnedAway(Struct, frozen=True):
    """A submission that certainly began nothing, and may be repeated."""

    error: Exception


class Refused(Struct, frozen=True):
    """A submission that the provider refuses for good."""

    error: ProviderError


class Unanswered(Struct, frozen=True):
    """A step that has failed in passing: it says nothing of the operation."""

    error: Exception


class CancelAsked(Struct, frozen=True):
    """The provider has been asked to cancel."""


class Fetched(Struct, frozen=True):
    """The results are in our storage. `outputs` is what the app knows them by."""

    outputs: Any


class Unusable(Struct, frozen=True):
    """The provider's results are not what was ordered. `reason` is for operators."""

    reason: str


Outcome = (
    Accepted
    | Pending
    | Succeeded
    | Failed
    | Cancelled
    | Unknown
    | TurnedAway
    | Refused
    | Unanswered
    | CancelAsked
    | Fetched
    | Unusable
)


# --- What follows ---------------------------------------------------------------------------------


class Continue(Struct, frozen=True):
    """The operation goes on: at once, or in so many `seconds`."""

    operation: Operation
    seconds: float | None = None


class End(Struct, frozen=True):
    """The end of an operation. `failure` is None where it is completed; `cause` is for operators.

    `is_unreconciled`: nothing is billed, but the provider may have done the work and bill us.
    """

    status: EndStatus
    failure: DomainError | None = None
    cause: ProviderError | None = None
    outputs: Any = None
    is_unreconciled: bool = False


class OperationCall(Call, frozen=True, kw_only=True):
    """The call of an operation. `total_seconds` is the time from the order to the provider's
    verdict, `submission_seconds` that for an answer to the submission."""

    submission_seconds: float = 60.0

    @property
    def units(self) -> Units:
        """What is ordered, and billed where the operation is completed."""
        raise NotImplementedError

    def cost_of(self, result: Succeeded | None) -> int:
        """What is billed of a completed operation, in nano-USD at cost: what the provider says, and
        never more than was held."""
        if result is None or result.cost is None:
            return self.worst_cost
        return min(result.cost, self.worst_cost)
