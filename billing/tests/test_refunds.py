"""What operators refund of a charge goes to where it came from, never more than it billed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.models import User
from billing.errors import BalanceTooLarge, ChargeRunning, NothingToRefund, RefundTooLarge
from billing.models import Allowance, Charge, LedgerEntry, Refund
from billing.services import balance
from billing.tests.bank import (
    IN_PLAN,
    at,
    charge_of,
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
    settle,
    wallet_of,
)
from billing.tests.web_app import client_of
from common.errors import Conflict
from common.ids import uuid7
from common.money import NUSD_PER_USD
from tests.locks import wait_until_blocked

pytestmark = pytest.mark.usefixtures("committed")

REASON = "The answer was cut off"
LAST_SECOND = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
NEXT_SECOND = datetime(2026, 2, 1, tzinfo=UTC)


def call(account: User, cost: int, *, model: str = IN_PLAN) -> Charge:
    """A call that has ended."""
    _, charge = hold(account, cost, owner=live_owner(), model=model)
    settle(charge, cost)
    return charge_of(charge)


def used(account: User) -> int:
    return Allowance.objects.get(account=account, model_id=IN_PLAN).used


def call_paid_by_both(account: User) -> Charge:
    """It takes all of the allowance, and as much again from the balance, at twice the cost."""
    call(account, 1)
    granted = Allowance.objects.get(account=account).granted
    return call(account, 2 * granted)


def refund(charge: Charge, amount: int | None = None, operation: UUID | None = None) -> Refund:
    return balance.refund(
        operation_id=operation or uuid7(), charge=charge, amount=amount, reason=REASON
    )


def test_what_the_balance_paid_goes_to_the_balance_and_stands_in_the_ledger() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")
    assert wallet_of(alice).balance == 800

    done = refund(charge)

    assert (done.plan_part, done.balance_part) == (0, 200)
    assert wallet_of(alice).balance == 1000
    entry = LedgerEntry.objects.get(pk=done.pk)
    assert (entry.kind, entry.delta, entry.balance_after) == ("refund", 200, 1000)
    assert entry.description == REASON


def test_what_the_plan_paid_goes_to_the_allowance() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100)
    assert used(alice) == 100

    done = refund(charge)

    assert (done.plan_part, done.balance_part) == (100, 0)
    assert (done.to_allowance, done.to_balance) == (100, 0)
    granted = Allowance.objects.get(account=alice).granted
    assert done.allowance_left == granted - 100
    assert (used(alice), wallet_of(alice).balance) == (0, 1000)
    entry = LedgerEntry.objects.get(pk=done.pk)
    assert (entry.kind, entry.delta, entry.balance_after) == ("refund", 0, 1000)


def test_what_the_plan_paid_in_a_month_that_is_over_goes_to_the_balance() -> None:
    with at(LAST_SECOND):
        alice = new_account(balance=1000)
        charge = call(alice, 100)

    with at(NEXT_SECOND):
        done = refund(charge, 60)

    assert (done.plan_part, done.balance_part, done.allowance_left) == (60, 0, None)
    assert (done.to_allowance, done.to_balance) == (0, 60)
    assert (used(alice), wallet_of(alice).balance) == (100, 1060)
    entry = LedgerEntry.objects.get(pk=done.pk)
    assert (entry.delta, entry.balance_after, entry.created_at) == (60, 1060, NEXT_SECOND)


def test_a_charge_may_be_refunded_before_its_month_ends_and_after() -> None:
    with at(LAST_SECOND):
        alice = new_account(balance=1000)
        charge = call(alice, 100)
        first = refund(charge, 30)

    with at(NEXT_SECOND):
        rest = refund(charge)
        with pytest.raises(NothingToRefund):
            refund(charge)

    assert (first.to_allowance, rest.to_balance) == (30, 70)
    assert (used(alice), wallet_of(alice).balance) == (70, 1070)


def test_a_part_goes_to_the_balance_first_and_then_to_the_plan() -> None:
    alice = new_account(balance=200 * NUSD_PER_USD)
    charge = call_paid_by_both(alice)
    assert charge.charge_plan > 0
    assert charge.charge_balance > 0

    first = refund(charge, charge.charge_balance - 1)
    second = refund(charge, 3)
    last = refund(charge)

    assert (first.plan_part, first.balance_part) == (0, charge.charge_balance - 1)
    assert (second.plan_part, second.balance_part) == (2, 1)
    assert (last.plan_part, last.balance_part) == (charge.charge_plan - 2, 0)
    assert wallet_of(alice).balance == 200 * NUSD_PER_USD
    assert used(alice) == 1
    with pytest.raises(NothingToRefund):
        refund(charge)


def test_more_than_is_left_is_refused_and_moves_nothing() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")
    refund(charge, 150)
    with pytest.raises(RefundTooLarge, match=r"At most \$0.00000005 can be refunded"):
        refund(charge, 51)
    assert wallet_of(alice).balance == 950


def test_a_charge_that_runs_or_billed_nothing_is_not_refunded() -> None:
    alice = new_account(balance=1000)
    _, running = hold(alice, 100, owner=live_owner())
    with pytest.raises(ChargeRunning):
        refund(charge_of(running))
    release(running)
    with pytest.raises(NothingToRefund):
        refund(charge_of(running))


def test_a_balance_does_not_become_too_large() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")
    balance.topup(operation_id=uuid7(), account=alice, amount=9_000_000 * NUSD_PER_USD - 900)
    with pytest.raises(BalanceTooLarge):
        refund(charge)


def test_a_repeated_refund_moves_money_once_even_at_the_same_time() -> None:
    alice = new_account(balance=1000)
    charge, operation = call(alice, 100, model="kimi-k3"), uuid7()

    def send(_: int) -> str:
        with other_connection() as other:
            row = other.execute(
                "SELECT outcome FROM money_refund(%s, %s, 60, '')", (operation, charge.pk)
            ).fetchone()
        assert row
        return str(row[0])

    with ThreadPoolExecutor(4) as threads:
        outcomes = sorted(threads.map(send, range(4)))

    assert outcomes == ["already", "already", "already", "done"]
    assert wallet_of(alice).balance == 860
    with pytest.raises(Conflict):
        refund(charge, 61, operation)
    with pytest.raises(Conflict):
        refund(call(alice, 100, model="kimi-k3"), 60, operation)


def test_an_id_that_stands_for_something_else_refunds_nothing() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")
    topup = LedgerEntry.objects.get(account=alice, kind="topup")
    for operation in (charge.pk, topup.pk):
        with pytest.raises(Conflict):
            refund(charge, None, operation)
    assert wallet_of(alice).balance == 800


def test_many_refunds_at_once_never_exceed_the_charge() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")

    def send() -> str:
        with other_connection() as other:
            row = other.execute(
                "SELECT outcome FROM money_refund(%s, %s, 70, '')", (uuid7(), charge.pk)
            ).fetchone()
        assert row
        return str(row[0])

    with other_connection() as first, ThreadPoolExecutor(4) as threads:
        first.execute("BEGIN")
        first.execute("SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (alice.pk,))
        sent = [threads.submit(send) for _ in range(4)]
        wait_until_blocked(first, waiters=4)
        first.execute("COMMIT")

    outcomes = sorted(each.result() for each in sent)
    assert outcomes == ["done", "done", "too_much", "too_much"]
    assert wallet_of(alice).balance == 940


@settings(max_examples=15)
@given(
    cost=st.integers(1, 300),
    parts=st.lists(st.one_of(st.none(), st.integers(1, 400)), max_size=5),
)
def test_whatever_is_refunded_no_more_comes_back_than_was_billed(
    cost: int, parts: list[int | None]
) -> None:
    alice = new_account(balance=1000)
    charge = call(alice, cost, model="kimi-k3")
    left = charge.charge_plan + charge.charge_balance
    for part in parts:
        if left == 0:
            with pytest.raises(NothingToRefund):
                refund(charge, part)
        elif part is not None and part > left:
            with pytest.raises(RefundTooLarge):
                refund(charge, part)
        else:
            refund(charge, part)
            left -= left if part is None else part
    assert wallet_of(alice).balance == 1000 - left


def test_a_refund_is_not_altered() -> None:
    alice = new_account(balance=1000)
    done = refund(call(alice, 100, model="kimi-k3"))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Refund.objects.filter(pk=done.pk).update(balance_part=1)


# --- What the customer sees -----------------------------------------------------------------------


def test_the_customer_sees_it_among_the_transactions_with_its_call() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100, model="kimi-k3")
    done = refund(charge)
    [shown] = client_of(alice).get("/api/billing/transactions?kind=refund").json()
    assert (shown["id"], shown["charge_id"]) == (str(done.pk), str(charge.pk))
    assert (shown["amount_usd"], shown["description"]) == (2e-7, REASON)
    assert shown["allowance_usd"] == 0
    everything = client_of(alice).get("/api/billing/transactions").json()
    assert [row["allowance_usd"] for row in everything] == [0, None, None]


def test_the_customer_sees_what_the_allowance_got_back() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100)
    refund(charge)
    [shown] = client_of(alice).get("/api/billing/transactions?kind=refund").json()
    assert (shown["amount_usd"], shown["allowance_usd"]) == (0, 1e-7)
    assert (shown["charge_id"], shown["balance_after_usd"]) == (str(charge.pk), 1e-6)
