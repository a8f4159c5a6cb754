"""One call's money: held at the worst case, settled to what it used."""

import pytest
from django.db import DatabaseError, transaction

from accounts.models import User
from billing.models import Allowance, LedgerEntry, PlanAllowance
from billing.selectors.affordability import get_spending_power
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    charge_of,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    release_all,
    settle,
    wallet_of,
)
from common.money import NUSD_PER_CENT

pytestmark = pytest.mark.usefixtures("committed")


def test_a_hold_reserves_twice_the_worst_case_of_a_model_outside_the_plan() -> None:
    alice = new_account(balance=1000)

    verdict, charge = hold(alice, 300, owner=live_owner())

    assert verdict == "held"
    assert (wallet_of(alice).balance, wallet_of(alice).held) == (1000, 600)
    assert charge_of(charge).plan_id == "max"
    release(charge)


def test_settling_charges_what_was_used_and_frees_the_rest() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner())

    assert settle(charge, 120) == "resolved"

    wallet = wallet_of(alice)
    assert (wallet.balance, wallet.held, wallet.open_charges) == (760, 0, 0)
    entry = LedgerEntry.objects.get(pk=charge)
    assert (entry.kind, entry.delta, entry.balance_after) == ("charge", -240, 760)


def test_the_plan_pays_first_at_cost() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner(), model=IN_PLAN)

    settle(charge, 120)

    row = charge_of(charge)
    assert (row.charge_plan, row.charge_balance) == (120, 0)
    assert wallet_of(alice).balance == 1000


def test_what_the_plan_does_not_cover_costs_the_balance_twice() -> None:
    alice = new_account(balance=1000)
    _leave_of_allowance(alice, 100)
    _, charge = hold(alice, 300, owner=live_owner(), model=IN_PLAN)
    assert wallet_of(alice).held == 400

    settle(charge, 150)

    row = charge_of(charge)
    assert (row.charge_plan, row.charge_balance) == (100, 100)
    assert wallet_of(alice).balance == 900


def test_a_call_that_held_balance_is_paid_by_allowance_that_came_free_meanwhile() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _leave_of_allowance(alice, 100)
    _, first = hold(alice, 100, owner=owner, model=IN_PLAN)
    _, second = hold(alice, 50, owner=owner, model=IN_PLAN)
    assert charge_of(second).hold_plan == 0
    settle(first, 10)

    settle(second, 50)

    assert charge_of(second).charge_balance == 0


def test_a_call_that_allowance_and_balance_cannot_cover_is_refused() -> None:
    alice = new_account(balance=2 * NUSD_PER_CENT)
    owner = live_owner()

    assert hold(alice, NUSD_PER_CENT + 1, owner=owner)[0] == "insufficient_for_request"
    assert hold(alice, NUSD_PER_CENT, owner=owner)[0] == "held"
    assert hold(alice, 1, owner=owner)[0] == "insufficient_balance"
    release_all(alice)


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        (0, "insufficient_balance"),
        (NUSD_PER_CENT - 1, "insufficient_balance"),
        (NUSD_PER_CENT, "insufficient_for_request"),
    ],
)
@pytest.mark.parametrize("model", [BALANCE_ONLY, IN_PLAN])
def test_less_than_a_cent_of_both_together_is_too_low_for_any_request(
    left: int, verdict: str, model: str
) -> None:
    """Whether it is left of the allowance or of the balance."""
    granted = PlanAllowance.objects.filter(plan_id="max", model_id=IN_PLAN).get().granted
    alice = new_account(balance=left if model == BALANCE_ONLY else 0)
    if model == IN_PLAN:
        settle(hold(alice, granted - left, owner=live_owner(), model=model)[1], granted - left)

    assert hold(alice, NUSD_PER_CENT + 1, owner=live_owner(), model=model)[0] == verdict
    refusal = get_spending_power(alice).refusal_of(model, NUSD_PER_CENT + 1)
    assert refusal is not None
    assert refusal.code == verdict


def test_a_charge_is_resolved_at_most_once() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner())
    settle(charge, 100)

    assert settle(charge, 100) == "already"
    assert release(charge) == "already"
    assert expire(charge) == "already"

    assert wallet_of(alice).balance == 800


def test_a_released_charge_bills_nothing() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner())

    release(charge)

    assert (wallet_of(alice).balance, wallet_of(alice).held) == (1000, 0)
    assert charge_of(charge).status == "released"


def test_repeating_a_hold_admits_the_same_charge_and_reserves_once() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 300, owner=owner)

    assert hold(alice, 300, owner=owner, charge=charge)[0] == "held"

    assert wallet_of(alice).held == 600
    release(charge)


def test_a_hold_whose_charge_has_ended_is_not_admitted_again() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 300, owner=owner)
    release(charge)

    assert hold(alice, 300, owner=owner, charge=charge)[0] == "resolved"
    assert hold(alice, 300, owner=live_owner(), charge=charge)[0] == "resolved"


def test_a_cost_above_the_hold_takes_free_funds_but_never_another_calls() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, greedy = hold(alice, 100, owner=owner)
    _, other = hold(alice, 300, owner=owner)

    settle(greedy, 900)

    row = charge_of(greedy)
    assert (row.charge_balance, row.shortfall) == (400, 1400)
    assert settle(other, 300) == "resolved"
    assert wallet_of(alice).balance == 0


def test_the_ledger_cannot_be_rewritten() -> None:
    alice = new_account(balance=1000)

    for attempt in (
        lambda: LedgerEntry.objects.filter(account=alice).update(delta=1),
        lambda: LedgerEntry.objects.filter(account=alice).delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()


def _leave_of_allowance(account: User, nusd: int) -> None:
    """Use up the account's allowance for IN_PLAN but for so much."""
    owner = live_owner()
    _, charge = hold(account, 1, owner=owner, model=IN_PLAN)
    release(charge)
    allowance = Allowance.objects.get(account=account, model_id=IN_PLAN)
    spent = allowance.granted - nusd
    _, charge = hold(account, spent, owner=owner, model=IN_PLAN)
    settle(charge, spent)
