"""What goes into a money verb, and what comes out. Amounts are nano-USD."""

from typing import Literal
from uuid import UUID

from msgspec import Struct

Source = Literal["api", "web", "job"]
Funding = Literal["customer", "platform"]
# What every account begins on.
FREE_PLAN = "free"
# The free plan's chat in the web app: so many messages per model in a window of so many hours. The
# money functions say so too.
FREE_MESSAGES = 10
FREE_WINDOW_HOURS = 4
# The most that one of them may produce.
FREE_OUTPUT_TOKENS = 1_024

ChargeStatus = Literal["held", "settled", "released", "expired"]


class HoldRequest(Struct, frozen=True):
    """A call that wants to be admitted. `worst_cost` is at cost; `seconds` until its deadline.

    `free_window`: a message of the web app's chat, which on the free plan takes one of its messages
    and is platform-funded.
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


# The codes that failures have.
FAILURE_CODES = (
    "upstream_error",
    "provider_unavailable",
    "content_blocked",
    "input_too_long",
    "invalid_body",
    "no_text",
    "cancelled",
    "interrupted",
    "service_unavailable",
)


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a call did not end well, for operators: it is kept with the charge.

    `code` is what the caller was told. `provider` is who was called, so many `attempts` times;
    where it is at fault, `status` is that of its answer and `reason` its own codes. No text of the
    request or of the answer is in it.
    """

    code: str
    message: str = ""
    provider: str = ""
    status: int | None = None
    reason: str = ""
    attempts: int = 0


class Ending(Struct, frozen=True):
    """How a call ended: `settled` at what it used, `released`, or `expired` at its checkpoint.

    `cost` is at cost; it and the tokens, images or seconds behind it count for a settled
    call only. `failure` is None for a call that ended well.
    """

    charge_id: UUID
    account_id: UUID
    status: Literal["settled", "released", "expired"]
    cost: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    images: int = 0
    seconds: int = 0
    failure: Failure | None = None


class RequestKey(Struct, frozen=True):
    """A call that happens once, however often it is sent, per account and `route`.

    `key` is what the client calls it; `digest` is the SHA-256 of what it asks.
    """

    route: str
    key: str
    digest: bytes


class StoredAnswer(Struct, frozen=True):
    """What a call brought that had been made before: the charge that paid for it, what the
    customer paid in nano-USD, and the answer as its kind of call stored it."""

    charge_id: UUID
    billed: int
    answer: bytes


class Resolution(Struct, frozen=True):
    """How a charge ended. `moved` is False where it had been resolved before."""

    moved: bool
    status: ChargeStatus
    cost: int
    charge_plan: int
    charge_balance: int
    shortfall: int

    @property
    def taken_over(self) -> bool:
        """Had somebody else ended it? (Settled twice is one settlement whose reply was lost.)"""
        return not self.moved and self.status in ("released", "expired")

    @property
    def billed(self) -> int:
        """What the customer paid: the plan's part at cost, the balance's at twice the cost."""
        return self.charge_plan + self.charge_balance


class Checkpoint(Struct, frozen=True):
    """How far a running call has come."""

    charge_id: UUID
    tokens_in: int
    tokens_out: int
    cost: int
