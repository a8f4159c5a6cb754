"""What could be paid now: the same as a hold would say, for any call and any means."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.errors import InsufficientBalance
from billing.hold_errors import SHORTAGE
from billing.selectors.affordability import Payment, SpendingPower, get_spending_power
from billing.services import balance
from billing.tests import bank
from billing.tests.bank import BALANCE_ONLY, IN_PLAN, live_owner, new_account, release_all
from billing.types import as_json
from common.ids import uuid7
from common.money import NUSD_PER_CENT

pytestmark = pytest.mark.usefixtures("committed")

amounts = st.integers(0, 60_000_000_000)


@given(means=amounts, held=amounts, worst=amounts, model=st.sampled_from([IN_PLAN, BALANCE_ONLY]))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_spending_power_refuses_what_a_hold_refuses(
    means: int, held: int, worst: int, model: str
) -> None:
    alice, owner = new_account(balance=means), live_owner()
    bank.hold(alice, held, owner=owner, model=model)
    spending_power = get_spending_power(alice)

    refusal = spending_power.refusal_of(model, worst)

    payment = spending_power.price(model, worst)
    verdict, charge = bank.hold(alice, worst, owner=owner, model=model)
    assert verdict == (refusal.code if refusal else "held")
    if refusal is None:
        row = bank.charge_of(charge)
        assert (row.hold_plan, row.hold_balance) == (payment.plan, payment.balance)
    else:
        assert refusal.extra["needed_usd"] == payment.total / 1e9
        call = bank.request_for(alice, worst, owner=owner, price=bank.price_of(model), model=model)
        *_, is_held = bank.run(SHORTAGE, as_json(call))
        assert is_held == (refusal.retry_after is not None)
    release_all(alice)


def test_calls_are_paid_one_after_the_other() -> None:
    spending_power = SpendingPower("max", 100, {"a": 30}, 100, {"a": 30})

    assert spending_power.pay("a", 20) == Payment(20, 0)
    assert spending_power.pay("a", 20) == Payment(10, 20)
    assert spending_power.pay("b", 20) == Payment(0, 40)
    assert (spending_power.available, spending_power.allowances) == (40, {"a": 0})


def test_what_running_calls_hold_is_not_in_it() -> None:
    alice = new_account(balance=1_000)
    bank.hold(alice, 300, owner=live_owner())

    spending_power = get_spending_power(alice)

    assert (spending_power.plan, spending_power.available) == ("max", 400)
    release_all(alice)


def test_nothing_at_all_is_another_refusal_than_too_little() -> None:
    alice = new_account(balance=0)
    nothing = get_spending_power(alice).refusal_of(BALANCE_ONLY, 1)
    balance.topup(operation_id=uuid7(), account=alice, amount=NUSD_PER_CENT)
    too_little = get_spending_power(alice).refusal_of(BALANCE_ONLY, NUSD_PER_CENT)

    assert isinstance(nothing, InsufficientBalance)
    assert too_little is not None
    assert (too_little.code, too_little.extra["afford_usd"]) == ("insufficient_for_request", 0.01)
    assert get_spending_power(alice).refusal_of(BALANCE_ONLY, 0) is None
