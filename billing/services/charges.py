"""The money verbs of a call: hold, checkpoint, settle, release, expire.

Each is one SQL function of `billing/sql/` and one round trip. All may raise DatabaseUnavailable;
the outcome is then unknown, and every verb may simply be repeated.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from billing.errors import (
    AccountDisabled,
    ApiAccessRequired,
    ChargeResolved,
    FreeLimit,
    InsufficientBalance,
    InsufficientForRequest,
    InvalidApiKey,
    ModelNotAllowed,
    SpendCapReached,
)
from billing.types import Checkpoint, HoldRequest, Resolution, Spend
from common.database import get_database
from common.errors import DomainError
from common.money import usd

HOLD = "SELECT * FROM money_hold(%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)"
RESOLVE = "SELECT * FROM money_resolve(%s,%s,%s,%s,%s,%s,%s,%s)"

_REFUSALS: dict[str, type[DomainError]] = {
    "invalid_api_key": InvalidApiKey,
    "account_disabled": AccountDisabled,
    "api_access_required": ApiAccessRequired,
    "model_not_allowed": ModelNotAllowed,
    "spend_cap_reached": SpendCapReached,
    "resolved": ChargeResolved,
}


async def hold(request: HoldRequest) -> None:
    """Reserve the worst case of a call, or raise the DomainError that says why not."""
    verdict, plan, needed, afford, balance, used, reset_at = await get_database().row(
        HOLD,
        (
            request.charge_id,
            request.account_id,
            request.api_key_id,
            request.model_id,
            request.price_version_id,
            request.source,
            request.kind,
            request.funding,
            request.free_window,
            request.worst_cost,
            request.owner_id,
            request.seconds,
            request.request_id,
        ),
    )
    if verdict == "held":
        return
    if verdict == "spend_cap_in_flight":
        raise SpendCapReached(
            "Requests in flight have committed this key's monthly spend cap. "
            "Try again when they have ended, or raise the cap.",
            retry_after=1,
        )
    if verdict in ("insufficient_balance", "insufficient_for_request"):
        short = InsufficientBalance if verdict == "insufficient_balance" else InsufficientForRequest
        raise short(
            model_key=request.model_id,
            plan=plan,
            needed_usd=usd(needed),
            afford_usd=usd(afford),
            balance_usd=usd(balance),
        )
    if verdict == "free_limit":
        raise FreeLimit(
            model_key=request.model_id,
            plan=plan,
            limit=10,
            window_hours=4,
            used=used,
            reset_at=reset_at.isoformat(),
        )
    raise _REFUSALS[verdict]


async def settle(charge_id: UUID, spend: Spend) -> Resolution:
    """End a call that produced output: bill what it used."""
    return _resolution(
        await get_database().row(
            RESOLVE,
            (
                charge_id,
                "settled",
                spend.cost,
                spend.tokens_in,
                spend.tokens_out,
                spend.cached_tokens,
                spend.reasoning_tokens,
                spend.images,
            ),
        )
    )


async def release(charge_id: UUID) -> None:
    """End a call that produced nothing: bill nothing. Also right for a hold whose fate is unknown:
    a charge that never came to be is left alone."""
    await get_database().row(RESOLVE, (charge_id, "released", 0, 0, 0, 0, 0, 0))


async def expire(charge_id: UUID) -> None:
    """End a call that nobody runs any more: bill its last checkpoint, or release it."""
    await get_database().row(RESOLVE, (charge_id, "expired", 0, 0, 0, 0, 0, 0))


async def checkpoint(owner_id: UUID, progress: Sequence[Checkpoint]) -> set[UUID]:
    """Write down how far calls have come. Returns the charges that are no longer ours to run."""
    rows = await get_database().rows(
        "SELECT * FROM money_checkpoint(%s, %s, %s::int[], %s::int[], %s::bigint[])",
        (
            owner_id,
            [run.charge_id for run in progress],
            [run.tokens_in for run in progress],
            [run.tokens_out for run in progress],
            [run.cost for run in progress],
        ),
    )
    return {row[0] for row in rows}


async def renew_lease(owner_id: UUID, kind: str, live: Collection[UUID]) -> set[UUID]:
    """Renew a process's lease. Returns the charges it holds without knowing: expire them."""
    rows = await get_database().rows(
        "SELECT * FROM lease_heartbeat(%s, %s, %s::uuid[])", (owner_id, kind, list(live))
    )
    return {row[0] for row in rows}


async def end_lease(owner_id: UUID) -> None:
    """Give up a process's lease: whatever it still holds has lapsed."""
    await get_database().rows("DELETE FROM billing_ownerlease WHERE owner_id = %s", (owner_id,))


def _resolution(row: tuple[Any, ...]) -> Resolution:
    outcome, *values = row
    return Resolution(outcome == "resolved", *values)
