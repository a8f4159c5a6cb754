"""`reconcile` checks what changed since it last passed, and `reconcile --all` the whole history."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F, Sum

from accounts.models import User
from billing.models import (
    Allowance,
    Charge,
    ChargeTotal,
    GroupTotal,
    LedgerEntry,
    Refund,
    Wallet,
    Watermark,
)
from billing.services import balance, groups, reconciliation
from billing.services.endings import RESOLVE
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    ended,
    hold,
    live_owner,
    new_account,
    other_connection,
    run,
    settle,
)
from common.ids import uuid7

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
def passed(committed: None) -> None:
    """What other tests have left is checked."""
    assert reconciliation.check_changes() == []


def broken(*, everything: bool = False) -> set[str]:
    check = reconciliation.check_everything if everything else reconciliation.check_changes
    return {violation.invariant.name for violation in check()}


def call(account: User, cost: int = 100, *, model: str = BALANCE_ONLY) -> UUID:
    _, charge = hold(account, cost, owner=live_owner(), model=model)
    settle(charge, cost)
    return charge


def counted(account: User) -> int:
    """The charges that the totals have."""
    found = ChargeTotal.objects.filter(account=account).aggregate(charges=Sum("charges"))
    return found["charges"] or 0


def snapshot() -> str:
    return Watermark.objects.get().snapshot


@contextmanager
def changed(wallet: User, **columns: int) -> Iterator[None]:
    """Until the block ends, somebody has written into the wallet."""
    rows = Wallet.objects.filter(pk=wallet.pk)
    rows.update(**{name: F(name) + by for name, by in columns.items()})
    yield
    rows.update(**{name: F(name) - by for name, by in columns.items()})


def test_a_passed_check_counts_each_charge_once() -> None:
    alice = new_account(balance=10_000)
    call(alice)
    assert broken() == set()
    assert counted(alice) == 1
    call(alice)
    assert broken() == set()
    assert broken() == set()
    assert counted(alice) == 2


def test_what_commits_late_is_checked_by_the_next_pass() -> None:
    """The transaction began to settle before a pass, and commits after it."""
    alice, bob = new_account(balance=10_000), new_account(balance=10_000)
    _, late = hold(alice, 100, owner=live_owner())
    with other_connection() as other:
        other.execute("BEGIN")
        other.execute(RESOLVE, (ended(late, "settled", 100),))
        call(bob)
        assert broken() == set()
        assert (counted(alice), counted(bob)) == (0, 1)
        other.execute("COMMIT")
    call(bob)

    assert broken() == set()

    assert (counted(alice), counted(bob)) == (1, 2)


def test_a_broken_account_is_found_when_it_changes_and_stays_found() -> None:
    alice, bob = new_account(balance=10_000), new_account(balance=10_000)
    before = snapshot()
    with changed(alice, balance=1):
        call(alice)
        call(bob)
        assert broken() == {"ledger_chain"}
        assert broken() == {"ledger_chain"}
        assert snapshot() == before, "the next pass begins where this one did"
        assert counted(bob) == 0
    _mend(alice)
    assert broken() == set()
    assert snapshot() != before
    assert counted(bob) == 1


def _mend(account: User) -> None:
    """The call has taken over what was written into the wallet: its entry is one too high."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE billing_ledgerentry DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE billing_ledgerentry SET balance_after = balance_after - 1"
            " WHERE account_id = %s AND kind = 'charge'",
            (account.pk,),
        )
        cursor.execute("ALTER TABLE billing_ledgerentry ENABLE TRIGGER USER")


def test_each_counter_of_what_changed_is_compared() -> None:
    alice = new_account(balance=10_000)
    call(alice, model=IN_PLAN)
    for model, column, name in (
        (Allowance, "used", "allowance_used"),
        (Allowance, "held", "allowance_held"),
        (Wallet, "open_charges", "open_charges"),
        (Wallet, "held", "wallet_held"),
    ):
        rows = model.objects.filter(account=alice)
        rows.update(**{column: F(column) + 1})
        assert name in broken()
        rows.update(**{column: F(column) - 1})
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE billing_usagedaily SET billed = billed + 1 WHERE account_id = %s", (alice.pk,)
        )
        assert broken() == {"rollup"}
        cursor.execute(
            "UPDATE billing_usagedaily SET billed = billed - 1 WHERE account_id = %s", (alice.pk,)
        )
    assert broken() == set()


def test_a_charge_without_its_entry_is_found() -> None:
    alice = new_account(balance=10_000)
    charge = call(alice)
    with other_connection() as other:
        other.execute("BEGIN")
        other.execute("ALTER TABLE billing_ledgerentry DISABLE TRIGGER USER")
        other.execute("UPDATE billing_ledgerentry SET id = %s WHERE id = %s", (uuid7(), charge))
        other.execute("ALTER TABLE billing_ledgerentry ENABLE TRIGGER USER")
        other.execute("COMMIT")
        assert broken() == {"charge_in_ledger"}
        assert "charge_in_ledger" in broken(everything=True)
        other.execute("ALTER TABLE billing_ledgerentry DISABLE TRIGGER USER")
        other.execute(
            "UPDATE billing_ledgerentry SET id = %s WHERE account_id = %s AND kind = 'charge'",
            (charge, alice.pk),
        )
        other.execute("ALTER TABLE billing_ledgerentry ENABLE TRIGGER USER")
    assert broken() == set()


def test_topups_and_refunds_are_changes() -> None:
    alice = new_account(balance=10_000)
    charge = call(alice)
    both = call(alice, model=IN_PLAN)
    assert broken() == set()

    balance.topup(operation_id=uuid7(), account=alice, amount=500)
    with changed(alice, balance=1):
        assert broken() == {"ledger_ends_in_balance"}
    assert broken() == set()
    for each in (charge, both):
        balance.refund(
            operation_id=uuid7(), charge=Charge.objects.get(pk=each), amount=None, reason="test"
        )
    rows = Allowance.objects.filter(account=alice)
    rows.update(used=F("used") + 1)
    assert broken() == {"allowance_used"}
    rows.update(used=F("used") - 1)
    assert broken() == set()
    assert set(Refund.objects.filter(account=alice).values_list("model_id", flat=True)) == {
        BALANCE_ONLY,
        IN_PLAN,
    }


def test_groups_are_compared_with_the_totals_of_their_charges() -> None:
    alice = new_account(balance=10_000)
    group = uuid7()
    groups.create_group(group_id=group, account=alice, budget=5_000)
    for _ in range(2):
        _, charge = hold(alice, 100, owner=live_owner(), group=group)
        settle(charge, 100)
        assert broken() == set()
    assert GroupTotal.objects.get(group_id=group).billed == 400
    _, charge = hold(alice, 100, owner=live_owner(), group=group)
    run("UPDATE billing_chargegroup SET billed = billed + 1 WHERE id = %s RETURNING 1", group)
    assert broken() == {"charge_group"}
    run("UPDATE billing_chargegroup SET billed = billed - 1 WHERE id = %s RETURNING 1", group)
    settle(charge, 50)
    assert broken() == set()


def test_what_broke_in_the_past_is_found_by_the_check_of_everything() -> None:
    alice = new_account(balance=10_000)
    charge = Charge.objects.filter(pk=call(alice))
    assert broken() == set()

    charge.update(shortfall=1)

    assert broken() == set()
    assert broken(everything=True) == {"charge_split"}
    charge.update(shortfall=0)


def test_an_account_without_its_wallet_is_found() -> None:
    """No check of accounts would look at it."""
    alice = new_account(balance=10_000)
    call(alice)
    wallet = Wallet.objects.get(account=alice)
    Wallet.objects.filter(account=alice).delete()
    assert "wallets" in broken(everything=True)
    wallet.save(force_insert=True)
    assert broken(everything=True) == set()


def test_totals_that_are_not_those_of_the_charges_are_found() -> None:
    alice = new_account(balance=10_000)
    call(alice)
    assert broken() == set()
    totals = ChargeTotal.objects.filter(account=alice)
    totals.update(plan=F("plan") + 1)
    assert broken(everything=True) == {"totals"}
    Watermark.objects.all().delete()
    assert broken() == set()
    assert broken(everything=True) == set()


def test_everything_is_checked_some_accounts_at_a_time() -> None:
    alice = new_account(balance=10_000)
    for _ in range(3):
        new_account()
    told: list[reconciliation.Progress] = []
    accounts = Wallet.objects.count()
    half = accounts // 2
    with changed(alice, held=1):
        found = reconciliation.check_everything(accounts=half, tell=told.append)
    assert {violation.row["account_id"] for violation in found} == {alice.pk}
    assert [progress.done for progress in told] == [*range(half, accounts, half), accounts]
    assert {progress.total for progress in told} == {accounts}


def test_a_charge_that_names_no_transaction_is_counted_once() -> None:
    """A process of the release before has resolved it."""
    alice = new_account(balance=10_000)
    charge = call(alice)
    Charge.objects.filter(pk=charge).update(resolved_tx=None)
    assert broken() == set()
    assert broken() == set()
    assert counted(alice) == 1
    assert broken(everything=True) == set()


@pytest.mark.parametrize("identity", [{"cluster": 1}, {}], ids=["another", "a copy"])
def test_on_another_cluster_everything_is_counted_anew(identity: dict[str, int]) -> None:
    """A dump was restored: its rows name transactions that this cluster has yet to count."""
    alice = new_account(balance=10_000)
    charge = call(alice)
    assert broken() == set()
    Watermark.objects.update(**identity, snapshot="1000000000:1000000000:")
    Charge.objects.filter(pk=charge).update(resolved_tx=999_999_999)

    call(alice)
    assert broken() == set()
    call(alice)
    assert broken() == set()

    assert counted(alice) == 3
    assert broken(everything=True) == set()


def test_the_command_exits_with_an_error_where_something_is_broken() -> None:
    alice = new_account(balance=10_000)
    said, complained = StringIO(), StringIO()
    call_command("reconcile", stdout=said)
    assert "for what has changed" in said.getvalue()
    call_command("reconcile", "--all", "--accounts=50", stdout=said)
    assert f"of {Wallet.objects.count():,} accounts" in said.getvalue()
    with changed(alice, balance=1), pytest.raises(CommandError):
        call_command("reconcile", "--all", stdout=said, stderr=complained)
    assert "ledger_ends_in_balance" in complained.getvalue()
    assert LedgerEntry.objects.filter(account=alice).exists()


@pytest.mark.parametrize("accounts", ["0", "-1", "all"])
def test_a_check_of_no_accounts_is_refused(accounts: str) -> None:
    with pytest.raises(CommandError, match="from 1 on"):
        call_command("reconcile", "--all", f"--accounts={accounts}")
