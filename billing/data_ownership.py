"""What accounts own of this app (`common.ownership`). Amounts are whole nano-USD."""

from django.db.models import Model

from billing.models import (
    Allowance,
    Charge,
    ChargeGroup,
    ChargeTotal,
    ContractAllowance,
    FreeWindow,
    GroupTotal,
    IdempotencyKey,
    KeyMonth,
    LedgerEntry,
    Refund,
    Subscription,
    UndeliveredAnswer,
    UsageDaily,
    Wallet,
)
from common.ownership import Delete, Keep, Owned

_BOOKS = Keep("The books: it has amounts and times, and no text of the user.")


def _book(
    model: type[Model], exported: str, *, left_out: str = "", owner: str = "account"
) -> Owned:
    return Owned(model, (owner,), _BOOKS, exported, left_out)


OWNED = (
    _book(Subscription, "plan_id status started_at", left_out="account_id"),
    _book(ContractAllowance, "id model_id granted", left_out="account_id"),
    _book(Wallet, "balance held", left_out="account_id seq open_charges"),
    _book(
        LedgerEntry,
        "id seq kind delta balance_after description created_at",
        left_out="account_id tx",
    ),
    _book(
        Charge,
        "id api_key_id model_id plan_id price_version_id source kind funding status"
        " request_id month admitted_at resolved_at worst_cost hold_plan hold_balance"
        " free_window_start group_id first_output_at units cost charge_plan charge_balance failure",
        left_out="account_id owner_id deadline_at cap_at_hold key_committed_before shortfall"
        " allowance_left resolved_tx",
    ),
    _book(
        Refund,
        "id charge_id model_id month plan_part balance_part to_allowance reason created_at",
        left_out="account_id allowance_left tx",
    ),
    _book(
        ChargeTotal,
        "period month model_id api_key_id charges requests tokens_in tokens_out plan balance",
        left_out="id account_id largest least_cap greatest_cap",
    ),
    _book(GroupTotal, "group_id period billed", left_out="account_id committed"),
    _book(
        UsageDaily,
        "id api_key_id model_id day requests tokens_in tokens_out billed",
        left_out="account_id",
    ),
    _book(Allowance, "model_id month granted used held downgraded", left_out="account_id"),
    _book(KeyMonth, "api_key_id month billed held requests", owner="api_key__account"),
    _book(ChargeGroup, "id budget billed held", left_out="account_id"),
    _book(FreeWindow, "model_id window_start used", left_out="account_id"),
    Owned(
        IdempotencyKey,
        owners=("account",),
        # The answer is in base64.
        exported="route key charge_id created_at answer",
        left_out="account_id digest",
        on_deletion=Delete(),
    ),
    Owned(
        UndeliveredAnswer,
        owners=("account",),
        # The answer is in base64.
        exported="charge_id api_key_id route request_id kept_at answer",
        left_out="account_id digest claim claimed_by",
        on_deletion=Delete(),
    ),
)
