"""The plan of an account, and the UTC months that allowances and caps belong to.

A month is named by its first day. The month of a subscription is the database's, which holds use.
"""

from datetime import UTC, date, datetime, time

from msgspec import Struct

from accounts.models import User
from billing.queries import fetch_row


def current_month() -> date:
    return datetime.now(UTC).date().replace(day=1)


def begin_of(month: date) -> datetime:
    return datetime.combine(month, time(), UTC)


def end_of(month: date) -> datetime:
    """The moment at which the next month begins."""
    return begin_of(date(month.year + month.month // 12, month.month % 12 + 1, 1))


class CurrentSubscription(Struct, frozen=True):
    """A plan, and the UTC month that its allowances count in. `is_replayed`: an earlier request
    with the same idempotency key made the change."""

    plan: str
    status: str
    month: date
    is_replayed: bool = False

    @property
    def current_period_start(self) -> datetime:
        return begin_of(self.month)

    @property
    def current_period_end(self) -> datetime:
        return end_of(self.month)


def get_subscription(user: User) -> CurrentSubscription:
    """The user's subscription; every account has one from its creation on."""
    row = fetch_row(
        "SELECT plan_id, status, money_month() FROM billing_subscription WHERE account_id = %s",
        user.pk,
    )
    return CurrentSubscription(*row)
