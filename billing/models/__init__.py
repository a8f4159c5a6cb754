"""Plans and money. Every amount is BIGINT nano-USD; months are the first day of a UTC month.

Only the functions in `billing/sql/` write wallets, allowances, key months, charges, the ledger and
the rollup; each locks the account's wallet row first. The models are for reading, for the admin and
for migrations.

PostgreSQL evaluates a table's check constraints for every statement that writes it, so there are
few of them; `invariants.py` checks the rest.
"""

from billing.models.charges import Charge, IdempotencyKey, UsageDaily
from billing.models.plans import ContractAllowance, Plan, PlanAllowance, Subscription
from billing.models.refunds import Refund
from billing.models.totals import ChargeMonth, ChargeTotal, GroupTotal, Watermark
from billing.models.undelivered import UndeliveredAnswer
from billing.models.wallets import Allowance, ChargeGroup, FreeWindow, KeyMonth, LedgerEntry, Wallet

__all__ = [
    "Allowance",
    "Charge",
    "ChargeGroup",
    "ChargeMonth",
    "ChargeTotal",
    "ContractAllowance",
    "FreeWindow",
    "GroupTotal",
    "IdempotencyKey",
    "KeyMonth",
    "LedgerEntry",
    "Plan",
    "PlanAllowance",
    "Refund",
    "Subscription",
    "UndeliveredAnswer",
    "UsageDaily",
    "Wallet",
    "Watermark",
]
