"""An account's plan, balance and allowances.

Each function runs one statement, so that its numbers add up while calls run. The month is the
database's, which holds use too.
"""

from datetime import date, datetime

from msgspec import Struct

from accounts.models import User
from billing.models import Wallet
from billing.queries import fetch_rows
from billing.types import FREE_WINDOW_HOURS, Funds

_SNAPSHOT = """
SELECT w.balance, w.held, s.plan_id, p.features::json, this.month,
       a.model_id, a.granted, a.used, a.held
FROM billing_wallet w
JOIN billing_subscription s USING (account_id)
JOIN billing_plan p ON p.key = s.plan_id
CROSS JOIN (SELECT money_month() AS month) this
LEFT JOIN LATERAL (
    SELECT model_id, coalesce(current.granted, planned.granted) AS granted,
           coalesce(current.used, 0) AS used, coalesce(current.held, 0) AS held
    FROM (SELECT * FROM billing_allowance
          WHERE account_id = w.account_id AND month = this.month) current
    FULL JOIN granted_allowances(w.account_id, s.plan_id) planned USING (model_id)
) a ON a.granted > 0 OR a.used > 0 OR a.held > 0
WHERE w.account_id = %s ORDER BY a.model_id"""
_FREE_WINDOWS = """
SELECT w.model_id, w.used, w.window_start + make_interval(hours => %s)
FROM billing_freewindow w, (SELECT money_now() AS now) clock
WHERE w.account_id = %s AND w.used > 0
  AND w.window_start > clock.now - make_interval(hours => %s)"""


class ModelAllowance(Struct, frozen=True):
    """What an account may use of one model this month from its plan, in nano-USD at cost."""

    model: str
    granted: int = 0
    used: int = 0
    held: int = 0

    @property
    def remaining(self) -> int:
        return max(0, self.granted - self.used - self.held)

    @property
    def unspent(self) -> int:
        return max(0, self.granted - self.used)


class BillingSnapshot(Struct, frozen=True):
    """An account's funds and plan, and for each model the allowance of this month, by plan or
    contract."""

    funds: Funds
    plan: str
    features: dict[str, bool]
    month: date
    allowances: list[ModelAllowance]


class OpenWindow(Struct, frozen=True):
    """The number of free messages used of one model, and when the window ends."""

    used: int
    reset_at: datetime


def get_funds(user: User) -> Funds:
    """The user's balance."""
    wallet = Wallet.objects.get(account=user)
    return Funds(wallet.balance, wallet.held)


def get_billing_snapshot(user: User) -> BillingSnapshot:
    """The user's snapshot of this month; models in the order of their ids. One query."""
    rows = fetch_rows(_SNAPSHOT, user.pk)
    balance, held, plan, features, month = rows[0][:5]
    allowances = [ModelAllowance(*row[5:]) for row in rows if row[5] is not None]
    return BillingSnapshot(Funds(balance, held), plan, features, month, allowances)


def get_free_windows(user: User) -> dict[str, OpenWindow]:
    """The open windows of free messages, by model, of which some messages are used."""
    rows = fetch_rows(_FREE_WINDOWS, FREE_WINDOW_HOURS, user.pk, FREE_WINDOW_HOURS)
    return {model: OpenWindow(used, reset_at) for model, used, reset_at in rows}
