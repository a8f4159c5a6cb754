"""Maps the verdict of a hold to the error that says what the caller can do."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from ai.catalog.types import Catalog
from billing.errors import (
    RUNNING_CALLS_RETRY,
    AccountDisabled,
    ApiAccessRequired,
    ChargeResolved,
    FreeLimit,
    FreeModelLocked,
    GroupBudgetExceeded,
    IdempotencyInProgress,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    InvalidApiKey,
    ModelNotAllowed,
    SpendCapReached,
)
from billing.types import FREE_MESSAGES, FREE_WINDOW_HOURS, Funds, HoldRequest
from common.errors import DomainError
from common.money import usd
from common.times import iso_utc

# The verdict of an admitted call.
HELD = "held"
# Asked after a refusal alone, so that an admission takes one statement.
SHORTAGE = "SELECT * FROM money_shortage(%s)"
_PLAIN: dict[str, type[DomainError]] = {
    "invalid_api_key": InvalidApiKey,
    "account_disabled": AccountDisabled,
    "api_access_required": ApiAccessRequired,
    "model_not_allowed": ModelNotAllowed,
    "spend_cap_reached": SpendCapReached,
    "resolved": ChargeResolved,
    "idempotency_mismatch": IdempotencyMismatch,
}


class Shortage(NamedTuple):
    """What the account of a refused call has; `is_held`: it would pay the call if no other ran."""

    funds: Funds
    is_held: bool

    @classmethod
    def of(cls, balance: int, held: int, is_held: bool) -> Self:
        """From a row of SHORTAGE."""
        return cls(Funds(balance, held), is_held)


def concerns_money(row: Sequence[Any]) -> bool:
    """Does the error for this row of `money_hold` say what the account has?"""
    return row[4] is not None


def refusal_of(
    request: HoldRequest, row: Sequence[Any], shortage: Shortage | None, catalog: Catalog
) -> DomainError:
    """The error for a row of `money_hold` whose verdict is not HELD; with the shortage where it
    `concerns_money`."""
    verdict, plan, needed, afford, _, used, reset_at = row
    funds, is_held = shortage or (None, False)
    payer: dict[str, Any] = {"model_key": request.model_id, "plan": plan, "funds": funds}
    match verdict:
        case "insufficient_balance":
            return InsufficientBalance(is_held=is_held, **payer, needed=needed)
        case "insufficient_for_request":
            return InsufficientForRequest(
                is_held=is_held, **payer, needed=needed, afford_usd=usd(afford)
            )
        case "group_budget_exceeded":
            return GroupBudgetExceeded(**payer, needed=needed, afford_usd=usd(afford))
        case "group_budget_in_flight":
            return GroupBudgetExceeded(
                "Running calls have committed too much of the budget that this request counts "
                "against. Try again when they have ended.",
                **payer,
                needed=needed,
                afford_usd=usd(afford),
                retry_after=RUNNING_CALLS_RETRY,
            )
        case "free_limit":
            window: dict[str, Any] = {"limit": FREE_MESSAGES, "window_hours": FREE_WINDOW_HOURS}
            return FreeLimit(**payer, **window, used=used, reset_at=iso_utc(reset_at))
        case "free_model_locked":
            return FreeModelLocked(**payer, free_models=catalog.free_models)
        case "spend_cap_in_flight":
            return SpendCapReached(
                "Requests in flight have committed this key's monthly spend cap. "
                "Try again when they have ended, or raise the cap.",
                retry_after=1,
            )
        case "idempotency_in_progress":
            return IdempotencyInProgress(retry_after=1)
        case _:
            return _PLAIN[verdict]()
