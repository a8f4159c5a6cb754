"""What accounts own of this app (`common.ownership`). Amounts are whole nano-USD."""

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

OWNED = (
    Owned(
        Subscription,
        owners=("account",),
        exported="plan_id status started_at",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
    Owned(
        ContractAllowance,
        owners=("account",),
        exported="id model_id granted",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
    Owned(
        Wallet,
        owners=("account",),
        exported="balance held",
        left_out="account_id seq open_charges",
        on_deletion=_BOOKS,
    ),
    Owned(
        LedgerEntry,
        owners=("account",),
        exported="id seq kind delta balance_after description created_at",
        left_out="account_id tx",
        on_deletion=_BOOKS,
    ),
    Owned(
        Charge,
        owners=("account",),
        exported="id api_key_id model_id plan_id price_version_id source kind funding status"
        " request_id month admitted_at resolved_at worst_cost hold_plan hold_balance"
        " free_window_start group_id first_output_at units cost charge_plan charge_balance failure",
        left_out="account_id owner_id deadline_at cap_at_hold key_committed_before shortfall"
        " allowance_left resolved_tx",
        on_deletion=_BOOKS,
    ),
    Owned(
        Refund,
        owners=("account",),
        exported="id charge_id model_id month plan_part balance_part to_allowance reason"
        " created_at",
        left_out="account_id allowance_left tx",
        on_deletion=_BOOKS,
    ),
    Owned(
        ChargeTotal,
        owners=("account",),
        exported="period month model_id api_key_id charges requests tokens_in tokens_out plan"
        " balance",
        left_out="id account_id largest least_cap greatest_cap",
        on_deletion=_BOOKS,
    ),
    Owned(
        GroupTotal,
        owners=("account",),
        exported="group_id period billed",
        left_out="account_id committed",
        on_deletion=_BOOKS,
    ),
    Owned(
        UsageDaily,
        owners=("account",),
        exported="id api_key_id model_id day requests tokens_in tokens_out billed",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
    Owned(
        Allowance,
        owners=("account",),
        exported="model_id month granted used held downgraded",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
    Owned(
        KeyMonth,
        owners=("api_key__account",),
        exported="api_key_id month billed held requests",
        on_deletion=_BOOKS,
    ),
    Owned(
        ChargeGroup,
        owners=("account",),
        exported="id budget billed held",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
    Owned(
        FreeWindow,
        owners=("account",),
        exported="model_id window_start used",
        left_out="account_id",
        on_deletion=_BOOKS,
    ),
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
