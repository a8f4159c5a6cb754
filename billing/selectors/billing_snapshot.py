"""Where an account stands: its plan, its balance, and what its plan still pays for.

One statement each, so that what is shown adds up, however many calls run meanwhile. The month is
the database's, by which holds are decided.
"""

from datetime import date, datetime
from typing import Any

from django.db import connection
from msgspec import Struct

from accounts.models import User
from billing.models import Wallet
from billing.types import FREE_WINDOW_HOURS

_SNAPSHOT = """
SELECT w.balance, w.held, s.plan_id, p.features::json, this.month,
       a.model_id, a.granted, a.used, a.held
FROM billing_wallet w
JOIN billing_subscription s USING (account_id)
JOIN billing_plan p ON p.key = s.plan_id
CROSS JOIN (SELECT money_month() AS month) this
LEFT JOIN LATERAL (
    SELECT model_id, coalesce(begun.granted, planned.granted) AS granted,
           coalesce(begun.used, 0) AS used, coalesce(begun.held, 0) AS held
    FROM (SELECT * FROM billing_allowance
          WHERE account_id = w.account_id AND month = this.month) begun
    FULL JOIN granted_allowances(w.account_id, s.plan_id) planned USING (model_id)
) a ON a.granted > 0 OR a.used > 0 OR a.held > 0
WHERE w.account_id = %s ORDER BY a.model_id"""
_FREE_WINDOWS = """
SELECT w.model_id, w.used, w.window_start + make_interval(hours => %s)
FROM billing_freewindow w, (SELECT money_now() AS now) clock
WHERE w.account_id = %s AND w.used > 0
  AND w.window_start > clock.now - make_interval(hours => %s)"""


class Funds(Struct, frozen=True):
    """A prepaid balance, and what running calls hold of it; nano-USD."""

    balance: int
    held: int

    @property
    def available(self) -> int:
        return self.balance - self.held


class ModelAllowance(Struct, frozen=True):
    """What an account may use of one model this month from its plan, in nano-USD at cost."""

    model: str
    granted: int = 0
    used: int = 0
    held: int = 0

    @property
    def remaining(self) -> int:
        return max(0, self.granted - self.used - self.held)


class BillingSnapshot(Struct, frozen=True):
    """An account's funds and plan, and for each model what plan or contract grants this month, or
    has paid for already."""

    funds: Funds
    plan: str
    features: dict[str, bool]
    month: date
    allowances: list[ModelAllowance]


class OpenWindow(Struct, frozen=True):
    """Free messages that were used of one model, and when the count begins anew."""

    used: int
    reset_at: datetime


def get_funds(user: User) -> Funds:
    """The user's balance."""
    wallet = Wallet.objects.get(account=user)
    return Funds(wallet.balance, wallet.held)


def get_billing_snapshot(user: User) -> BillingSnapshot:
    """Where the user stands in this month; models in the order of their ids. One query."""
    rows = _rows(_SNAPSHOT, user.pk)
    balance, held, plan, features, month = rows[0][:5]
    allowances = [ModelAllowance(*row[5:]) for row in rows if row[5] is not None]
    return BillingSnapshot(Funds(balance, held), plan, features, month, allowances)


def get_free_windows(user: User) -> dict[str, OpenWindow]:
    """By model, the windows of free messages that are open now and of which some are used."""
    rows = _rows(_FREE_WINDOWS, FREE_WINDOW_HOURS, user.pk, FREE_WINDOW_HOURS)
    return {model: OpenWindow(used, reset_at) for model, used, reset_at in rows}


def _rows(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
