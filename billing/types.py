"""Parameters and results of the functions that move money. Amounts are nano-USD."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import Struct

from billing.units import Units

Source = Literal["api", "web", "job"]
Funding = Literal["customer", "platform"]
# The plan of a new account.
FREE_PLAN = "free"
# The free plan's chat in the web app: messages per model in a window of hours. The money functions
# have the same numbers.
FREE_MESSAGES = 10
FREE_WINDOW_HOURS = 4
# The longest answer to a free message.
FREE_OUTPUT_TOKENS = 1_024
# The window of a free message: the platform pays for it, and for everything that is sent with it.
FREE_CONTEXT_TOKENS = 8_192

EndStatus = Literal["settled", "released", "expired"]
ChargeStatus = Literal["held", "settled", "released", "expired"]


class Funds(Struct, frozen=True):
    """A prepaid balance, and what running calls hold of it; nano-USD."""

    balance: int
    held: int

    @property
    def available(self) -> int:
        return self.balance - self.held


class HoldRequest(Struct, frozen=True):
    """A call to be admitted. `worst_cost` is at cost; `seconds` until its deadline.

    `free_window`: a message of the web app's chat, which on the free plan takes one of the free
    messages and is paid by the platform. `group_id`: the group whose budget the call counts
    against (`billing.services.groups`).
    """

    charge_id: UUID
    account_id: UUID
    api_key_id: UUID | None
    model_id: str
    price_version_id: int
    source: Source
    kind: str
    worst_cost: int
    owner_id: UUID
    seconds: int
    request_id: str = ""
    funding: Funding = "customer"
    free_window: bool = False
    group_id: UUID | None = None


# The codes of failures.
FAILURE_CODES = (
    "upstream_error",
    "provider_unavailable",
    "rate_limit_exceeded",
    "content_blocked",
    "input_too_long",
    "invalid_body",
    "no_text",
    "cancelled",
    "interrupted",
    "service_unavailable",
)


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a call failed, for operators: it is kept with the charge.

    `code` is the caller's error code. `provider` was called `attempts` times; where the provider
    failed, `status` is its answer's and `reason` its own codes. It contains no text of the request
    or of the answer.
    """

    code: str
    message: str = ""
    provider: str = ""
    status: int | None = None
    reason: str = ""
    attempts: int = 0


class Ending(Struct, frozen=True):
    """How a call ended: `settled` at its usage, `released`, or `expired` at its checkpoint.

    `cost` is at cost; it and the `units` behind it count for a settled call only.
    `failure` is None for a call that ended well.
    """

    charge_id: UUID
    account_id: UUID
    status: EndStatus
    cost: int = 0
    units: Units = {}
    failure: Failure | None = None


class RequestKey(Struct, frozen=True):
    """A client's key for a request, unique per account and `route`: the request is carried out
    once.

    `key` is the client's value; `digest` is the SHA-256 of the request's parameters.
    """

    route: str
    key: str
    digest: bytes


def columns_of(request_key: RequestKey | None) -> tuple[str, str | None, bytes]:
    """Route, key and digest for the SQL functions; the key is NULL where there is none."""
    return msgspec.structs.astuple(request_key) if request_key else ("", None, b"")


class StoredAnswer(Struct, frozen=True):
    """The result of a call that was made before: its charge, what the customer paid in nano-USD,
    and the answer in the form of its kind of call."""

    charge_id: UUID
    billed: int
    answer: bytes


class UndeliveredCall(Struct, frozen=True):
    """A call under `/v1` whose caller has gone before it had all of the answer. `digest` is the
    SHA-256 of the request's body in hexadecimal digits, `request_id` the request's id."""

    charge_id: UUID
    account_id: UUID
    api_key_id: UUID
    route: str
    digest: str
    request_id: str


class Retry(Struct, frozen=True):
    """A request that says that it was sent before: as the request `retry_of`, where its client
    knows the id. The rest is what its call would be."""

    account_id: UUID
    api_key_id: UUID
    route: str
    digest: str
    retry_of: str | None
    model_id: str
    kind: str
    worst_cost: int


class Claim(Struct, frozen=True):
    """The right to deliver the answer of an undelivered call."""

    id: UUID
    charge_id: UUID


class Claimed(Struct, frozen=True):
    """The call of a claim, as it stands now. `billed` is in nano-USD; `begun`: it has output;
    `lapsed`: it is held, and nobody runs it any more. `answer` is in the form of its kind of
    call."""

    status: ChargeStatus
    billed: int
    begun: bool
    lapsed: bool
    answer: bytes | None


class Resolution(Struct, frozen=True):
    """How a charge ended. `moved` is False where it was resolved before."""

    moved: bool
    status: ChargeStatus
    cost: int
    charge_plan: int
    charge_balance: int
    shortfall: int

    @property
    def taken_over(self) -> bool:
        """Did somebody else end the charge? (Two settlements are one settlement whose reply was
        lost.)"""
        return not self.moved and self.status in ("released", "expired")

    @property
    def billed(self) -> int:
        """What the customer paid: the plan's part at cost, the balance's at twice the cost."""
        return self.charge_plan + self.charge_balance

    @property
    def borne(self) -> int:
        """What the platform paid, at cost: all of it, where the customer owed nothing."""
        return 0 if self.billed or self.shortfall else self.cost


# Of a charge that is left to the next attempt of its job.
KEPT = Resolution(moved=False, status="held", cost=0, charge_plan=0, charge_balance=0, shortfall=0)


class Checkpoint(Struct, frozen=True):
    """The progress of a running call."""

    charge_id: UUID
    units: Units
    cost: int


def as_json(
    parameter: HoldRequest
    | Ending
    | UndeliveredCall
    | Retry
    | Sequence[HoldRequest | Ending | Checkpoint | UndeliveredCall],
) -> str:
    """A parameter of the SQL functions that move money: one call's, or many calls'."""
    return msgspec.json.encode(parameter).decode()
