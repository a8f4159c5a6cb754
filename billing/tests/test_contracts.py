"""What an account has agreed on by a contract of its own. It counts on a plan without a price."""

from datetime import timedelta

import pytest

from accounts.models import User
from billing.models import Allowance, ContractAllowance, Plan
from billing.selectors.subscriptions import current_month
from billing.services import balance
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    at,
    charge_of,
    hold,
    live_owner,
    new_account,
    release,
    settle,
)
from billing.tests.terms import month_after

pytestmark = pytest.mark.usefixtures("committed")

# Of IN_PLAN on Max.
ALLOWANCE = 1_500_000_000
EMBEDDINGS = "text-embedding-3-small"


def test_a_contract_grants_its_allowance_on_the_plan_without_a_price() -> None:
    alice = new_account(plan="enterprise", balance=1_000)
    balance.set_contract(account=alice, model_id=BALANCE_ONLY, granted=100)

    _, charge = hold(alice, 150, owner=live_owner())

    assert (charge_of(charge).hold_plan, charge_of(charge).hold_balance) == (100, 100)
    settle(charge, 120)
    assert (charge_of(charge).charge_plan, charge_of(charge).charge_balance) == (100, 40)


def test_without_a_contract_that_plan_pays_for_nothing() -> None:
    alice = new_account(plan="enterprise", balance=0)

    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"


def test_a_contract_neither_adds_nor_takes_on_a_plan_with_a_price() -> None:
    alice = new_account(plan="max", balance=0)
    balance.set_contract(account=alice, model_id=BALANCE_ONLY, granted=100)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=1)

    assert hold(alice, 1, owner=live_owner(), model=BALANCE_ONLY)[0] == "insufficient_balance"
    verdict, charge = hold(alice, ALLOWANCE, owner=live_owner(), model=IN_PLAN)
    assert verdict == "held"
    release(charge)


def test_embeddings_belong_to_no_contract_and_no_plan() -> None:
    alice = new_account(plan="enterprise", balance=1_000)
    balance.set_contract(account=alice, model_id=EMBEDDINGS, granted=500)

    _, charge = hold(alice, 100, owner=live_owner(), model=EMBEDDINGS)

    assert (charge_of(charge).hold_plan, charge_of(charge).hold_balance) == (0, 200)
    settle(charge, 100)


def test_a_contract_is_of_one_account() -> None:
    alice, bob = (new_account(plan="enterprise", balance=0) for _ in range(2))
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)

    assert hold(bob, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"


def test_a_contract_begins_and_ends_with_the_plan() -> None:
    alice = new_account(plan="max", balance=0)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)
    settle(hold(alice, 60, owner=live_owner(), model=IN_PLAN)[1], 60)

    balance.change_plan(account=alice, plan="enterprise")
    assert _allowance(alice) == (100, 60)

    balance.change_plan(account=alice, plan="max")
    assert _allowance(alice) == (ALLOWANCE, 60)


def test_a_contract_that_grows_in_mid_month_grants_the_difference_at_once() -> None:
    alice = new_account(plan="enterprise", balance=0)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)
    settle(hold(alice, 100, owner=live_owner(), model=IN_PLAN)[1], 100)
    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"

    balance.set_contract(account=alice, model_id=IN_PLAN, granted=130)

    assert hold(alice, 31, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"
    settle(hold(alice, 30, owner=live_owner(), model=IN_PLAN)[1], 30)
    assert _allowance(alice) == (130, 130)


def test_a_contract_lowered_below_what_was_used_grants_no_more_and_takes_nothing_back() -> None:
    alice = new_account(plan="enterprise", balance=0)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)
    settle(hold(alice, 60, owner=live_owner(), model=IN_PLAN)[1], 60)
    _, running = hold(alice, 30, owner=live_owner(), model=IN_PLAN)

    balance.set_contract(account=alice, model_id=IN_PLAN, granted=20)

    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"
    settle(running, 30)
    assert charge_of(running).charge_plan == 30
    assert _allowance(alice) == (20, 90)


def test_a_contract_that_ends_grants_nothing_any_more() -> None:
    alice = new_account(plan="enterprise", balance=0)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)
    settle(hold(alice, 60, owner=live_owner(), model=IN_PLAN)[1], 60)

    balance.set_contract(account=alice, model_id=IN_PLAN, granted=None)

    assert not ContractAllowance.objects.filter(account=alice).exists()
    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"
    assert _allowance(alice) == (0, 60)


def test_a_contract_grants_anew_each_month() -> None:
    alice = new_account(plan="enterprise", balance=0)
    balance.set_contract(account=alice, model_id=IN_PLAN, granted=100)
    settle(hold(alice, 100, owner=live_owner(), model=IN_PLAN)[1], 100)

    with at(month_after(current_month()) + timedelta(seconds=1)):
        verdict, charge = hold(alice, 100, owner=live_owner(), model=IN_PLAN)
        assert verdict == "held"
        settle(charge, 40)

    assert _allowance(alice) == (100, 100)
    assert charge_of(charge).month == month_after(current_month()).date()


def test_only_the_plan_without_a_price_is_agreed_by_contract() -> None:
    assert list(Plan.objects.filter(price=None).values_list("key", flat=True)) == ["enterprise"]


def _allowance(account: User) -> tuple[int, int]:
    """Granted and used of IN_PLAN this month."""
    row = Allowance.objects.get(account=account, model_id=IN_PLAN, month=current_month())
    return row.granted, row.used
