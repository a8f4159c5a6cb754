"""The plan an account is on."""

from datetime import date, datetime

from msgspec import Struct

from accounts.models import User
from billing.models import Subscription
from billing.selectors.months import begin_of, current_month, end_of


class CurrentSubscription(Struct, frozen=True):
    """A plan, and the UTC month that its allowances count in."""

    plan: str
    status: str
    month: date

    @property
    def current_period_start(self) -> datetime:
        return begin_of(self.month)

    @property
    def current_period_end(self) -> datetime:
        return end_of(self.month)


def get_subscription(user: User) -> CurrentSubscription:
    """What the user subscribes to; every account does, from its first moment."""
    row = Subscription.objects.get(account=user)
    return CurrentSubscription(row.plan_id, row.status, current_month())
