"""The plan an account is on. The month is the database's, by which holds are decided."""

from datetime import date, datetime

from django.db import connection
from msgspec import Struct

from accounts.models import User
from billing.selectors.months import begin_of, end_of


class CurrentSubscription(Struct, frozen=True):
    """A plan, and the UTC month that its allowances count in. `is_replayed`: as a request put it
    that was sent before."""

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
    """What the user subscribes to; every account does, from its first moment."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT plan_id, status, money_month() FROM billing_subscription WHERE account_id = %s",
            (user.pk,),
        )
        return CurrentSubscription(*cursor.fetchone())
