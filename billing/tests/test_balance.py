"""Money that moves without a call."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from billing.errors import BalanceTooLarge, BelowHeld
from billing.models import LedgerEntry
from billing.services import balance
from billing.tests.bank import (
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
    settle,
    wallet_of,
)
from common.errors import Conflict
from common.ids import uuid7
from common.money import NUSD_PER_USD

pytestmark = pytest.mark.usefixtures("committed")


def test_a_topup_adds_to_the_balance_and_to_the_ledger() -> None:
    alice = new_account(balance=0)

    entry = balance.topup(operation_id=uuid7(), account=alice, amount=500)

    assert wallet_of(alice).balance == 500
    assert LedgerEntry.objects.get(account=alice) == entry
    assert (entry.kind, entry.delta, entry.seq) == ("topup", 500, 1)


def test_a_repeated_topup_adds_once_even_at_the_same_time() -> None:
    alice = new_account(balance=0)
    operation = uuid7()

    def topup(_: int) -> str:
        with other_connection() as other:
            row = other.execute(
                "SELECT outcome FROM money_move(%s, %s, 'topup', 500, '')", (operation, alice.pk)
            ).fetchone()
        assert row
        return str(row[0])

    with ThreadPoolExecutor(4) as threads:
        outcomes = sorted(threads.map(topup, range(4)))

    assert outcomes == ["already", "already", "already", "done"]
    assert wallet_of(alice).balance == 500


def test_an_adjustment_below_what_is_held_is_refused() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner())

    with pytest.raises(BelowHeld, match=r"balance is \$0.000001, of which running calls hold"):
        balance.adjust(operation_id=uuid7(), account=alice, delta=-500, reason="Chargeback")
    entry = balance.adjust(operation_id=uuid7(), account=alice, delta=-400, reason="Refund")
    assert entry.balance_after == 600
    release(charge)


def test_a_balance_ends_where_a_json_number_is_no_longer_exact() -> None:
    alice = new_account(balance=9_000_000 * NUSD_PER_USD - 1)

    balance.topup(operation_id=uuid7(), account=alice, amount=1)
    with pytest.raises(BalanceTooLarge):
        balance.topup(operation_id=uuid7(), account=alice, amount=1)

    assert wallet_of(alice).balance == 9_000_000 * NUSD_PER_USD
    assert float(wallet_of(alice).balance) == wallet_of(alice).balance


def test_an_operation_cannot_take_the_place_of_a_charge() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 300, owner=live_owner())

    with pytest.raises(Conflict):
        balance.adjust(operation_id=charge, account=alice, delta=1, reason="Gift")

    assert settle(charge, 200) == "resolved"
    assert wallet_of(alice).balance == 600


def test_a_new_account_has_a_wallet_and_is_on_the_free_plan() -> None:
    charlie = new_account(plan="free", balance=0)

    assert wallet_of(charlie).balance == 0
    assert charlie.subscription.plan_id == "free"


def test_an_operation_cannot_stand_for_two_different_things() -> None:
    alice, bob = new_account(balance=0), new_account(balance=0)
    operation = uuid7()
    balance.topup(operation_id=operation, account=alice, amount=500)

    with pytest.raises(Conflict):
        balance.topup(operation_id=operation, account=alice, amount=600)
    with pytest.raises(Conflict):
        balance.topup(operation_id=operation, account=bob, amount=500)

    assert (wallet_of(alice).balance, wallet_of(bob).balance) == (500, 0)
