"""Caps and allowances begin again on the first of the month, 00:00 UTC. A call belongs to the month
in which it was admitted, whenever it ends.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

import pytest

from accounts.models import ApiKey, User
from billing.models import Allowance, Charge, KeyMonth, UsageDaily
from billing.selectors.api_keys import spent_this_month
from billing.selectors.subscriptions import current_month
from billing.services import balance
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    charge_of,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    settle,
    wallet_of,
)
from common.money import NUSD_PER_USD
from tests.personas import new_key

pytestmark = pytest.mark.usefixtures("committed")

# Of IN_PLAN on Max.
ALLOWANCE = 1_500_000_000


def last_month() -> date:
    return (current_month() - timedelta(days=1)).replace(day=1)


def hold_last_month(
    account: User, worst: int, *, key: ApiKey | None = None, model: str = BALANCE_ONLY
) -> UUID:
    """A call that was admitted in the last second of last month, and still runs."""
    verdict, charge = hold(account, worst, owner=live_owner(), key=key, model=model)
    assert verdict == "held"
    midnight = datetime.combine(current_month(), time(), UTC)
    Charge.objects.filter(pk=charge).update(
        month=last_month(), admitted_at=midnight - timedelta(seconds=1)
    )
    Allowance.objects.filter(account=account, model_id=model).update(month=last_month())
    if key:
        KeyMonth.objects.filter(api_key=key).update(month=last_month())
    return charge


def test_a_call_counts_to_the_month_of_its_admission_when_it_ends_in_the_next() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=NUSD_PER_USD)
    charge = hold_last_month(alice, 1_000, key=key)

    settle(charge, 400)

    [month] = KeyMonth.objects.filter(api_key=key)
    assert (month.month, month.billed, month.held, month.requests) == (last_month(), 800, 0, 1)
    [day] = UsageDaily.objects.filter(account=alice)
    assert day.day == current_month() - timedelta(days=1)
    assert spent_this_month([key.pk]) == {}
    assert wallet_of(alice).balance == NUSD_PER_USD - 800


@pytest.mark.parametrize("end", [release, expire])
def test_a_call_without_output_gives_back_to_the_month_of_its_admission(
    end: Callable[[UUID], str],
) -> None:
    alice = new_account()
    key, _ = new_key(alice)
    charge = hold_last_month(alice, 1_000, key=key, model=IN_PLAN)

    end(charge)

    [month] = KeyMonth.objects.filter(api_key=key)
    assert (month.month, month.billed, month.held) == (last_month(), 0, 0)
    [allowance] = Allowance.objects.filter(account=alice)
    assert (allowance.month, allowance.used, allowance.held) == (last_month(), 0, 0)


def test_the_call_that_follows_begins_the_new_month() -> None:
    alice = new_account()
    key, _ = new_key(alice)
    settle(hold_last_month(alice, 100, key=key, model=IN_PLAN), 60)

    verdict, following = hold(alice, 1, owner=live_owner(), key=key, model=IN_PLAN)
    assert verdict == "held"
    release(following)

    assert Allowance.objects.get(account=alice, month=last_month()).used == 60
    assert KeyMonth.objects.get(api_key=key, month=last_month()).billed == 60
    assert Allowance.objects.filter(account=alice).count() == 2
    assert KeyMonth.objects.filter(api_key=key).count() == 2


def test_a_cap_that_was_reached_last_month_is_whole_again() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=100)
    settle(hold_last_month(alice, 500, key=key), 500)

    verdict, charge = hold(alice, 10, owner=live_owner(), key=key)

    assert verdict == "held"
    assert charge_of(charge).key_committed_before == 0
    settle(charge, 10)
    assert spent_this_month([key.pk]) == {key.pk: 20}


def test_what_runs_since_last_month_does_not_fill_this_months_cap() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=100)
    running = hold_last_month(alice, 500, key=key)

    verdict, charge = hold(alice, 10, owner=live_owner(), key=key)

    assert verdict == "held"
    for each in (running, charge):
        settle(each, 10)
    assert spent_this_month([key.pk]) == {key.pk: 20}


def test_an_allowance_that_was_spent_last_month_is_granted_again() -> None:
    alice = new_account(balance=0)
    settle(hold_last_month(alice, ALLOWANCE, model=IN_PLAN), ALLOWANCE)

    verdict, charge = hold(alice, ALLOWANCE, owner=live_owner(), model=IN_PLAN)

    assert verdict == "held"
    settle(charge, ALLOWANCE)
    months = Allowance.objects.filter(account=alice).order_by("month")
    assert [(row.month, row.used) for row in months] == [
        (last_month(), ALLOWANCE),
        (current_month(), ALLOWANCE),
    ]


def test_what_was_left_of_an_allowance_does_not_come_along() -> None:
    alice = new_account(balance=0)
    settle(hold_last_month(alice, 1, model=IN_PLAN), 1)

    assert hold(alice, ALLOWANCE + 1, owner=live_owner(), model=IN_PLAN)[0] != "held"
    verdict, charge = hold(alice, ALLOWANCE, owner=live_owner(), model=IN_PLAN)
    assert verdict == "held"
    release(charge)


def test_a_plan_change_leaves_last_months_allowance_to_the_call_that_holds_it() -> None:
    alice = new_account(balance=0)
    charge = hold_last_month(alice, 1_000, model=IN_PLAN)

    balance.change_plan(account=alice, plan="free")
    settle(charge, 1_000)

    row = charge_of(charge)
    assert (row.charge_plan, row.charge_balance, row.shortfall) == (1_000, 0, 0)
    [allowance] = Allowance.objects.filter(account=alice)
    assert (allowance.granted, allowance.downgraded) == (ALLOWANCE, False)
