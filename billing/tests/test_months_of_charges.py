"""Months of charges: made ahead, closed when they are over, and dropped; the books stay."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from itertools import count
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from pytest_django import Settings

from accounts.models import User
from billing.errors import ChargeDropped
from billing.models import (
    Allowance,
    Charge,
    ChargeMonth,
    ChargeTotal,
    LedgerEntry,
    UsageDaily,
    Wallet,
    Watermark,
)
from billing.services import balance, months, reconciliation
from billing.services.endings import RESOLVE
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    ended,
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
    run,
    settle,
    wallet_of,
)
from common.ids import uuid7
from tests.locks import wait_until_blocked

pytestmark = pytest.mark.usefixtures("committed")

_years = count(2001)


@pytest.fixture
def january(committed: None) -> Iterator[date]:
    """A month of its own, long ago. It is gone afterwards."""
    month = date(next(_years), 1, 1)
    months.add_month(month)
    yield month
    if month in {each.period for each in months.list_months()}:
        for charge in Charge.objects.filter(pk__range=_ids(month), status="held"):
            release(charge.pk)
        months.close_month(month)
        months.drop_month(month)


def _ids(month: date) -> tuple[UUID, UUID]:
    return run("SELECT least_id_of(%s), least_id_of(%s)", month, months.following(month))


def id_in(month: date, *, day: int = 15) -> UUID:
    return uuid7(datetime(month.year, month.month, day, 12, tzinfo=UTC))


def call(account: User, month: date, cost: int = 100, *, model: str = BALANCE_ONLY) -> UUID:
    """A call of that month that has ended."""
    charge = id_in(month)
    hold(account, cost, owner=live_owner(), charge=charge, model=model)
    settle(charge, cost)
    return charge


def intact() -> bool:
    # The accounts of other tests are there, too, and each step has its price.
    a_third = 1 + Wallet.objects.count() // 3
    return (
        reconciliation.check_changes() == []
        and reconciliation.check_everything(accounts=a_third) == []
        and reconciliation.find_violations() == []
    )


def test_a_month_is_closed_and_dropped_and_the_books_stay(january: date) -> None:
    alice = new_account(balance=10_000)
    for model in (BALANCE_ONLY, BALANCE_ONLY, IN_PLAN):
        call(alice, january, model=model)
    hold(alice, 100, owner=live_owner(), charge=(given_up := id_in(january)))
    release(given_up)
    rollup = list(UsageDaily.objects.filter(account=alice).values())
    ledger = list(LedgerEntry.objects.filter(account=alice).values())

    closed = months.close_month(january)
    assert closed.charges == 4
    assert intact()
    months.drop_month(january)
    assert intact()

    assert not Charge.objects.filter(account=alice).exists()
    assert list(UsageDaily.objects.filter(account=alice).values()) == rollup
    assert list(LedgerEntry.objects.filter(account=alice).values()) == ledger
    totals = ChargeTotal.objects.filter(account=alice)
    assert {total.model_id: (total.charges, total.plan, total.balance) for total in totals} == {
        BALANCE_ONLY: (2, 0, 400),
        IN_PLAN: (1, 100, 0),
    }
    call(alice, datetime.now(UTC).date())
    assert intact()


def test_both_may_be_asked_for_again(january: date) -> None:
    first = months.close_month(january)
    assert months.close_month(january) == first
    months.drop_month(january)
    dropped = ChargeMonth.objects.get(pk=january).dropped_at
    assert months.drop_month(january) == 0
    assert ChargeMonth.objects.get(pk=january).dropped_at == dropped


def test_a_month_that_is_not_over_for_three_days_is_not_closed() -> None:
    this = datetime.now(UTC).date().replace(day=1)
    end = datetime.combine(months.following(this), datetime.min.time(), UTC)
    with pytest.raises(months.MonthRefused, match="over"):
        months.close_month(this, now=end + timedelta(days=3, seconds=-1))


def test_a_month_with_held_charges_is_not_closed(january: date) -> None:
    alice = new_account(balance=10_000)
    charge = id_in(january)
    hold(alice, 100, owner=live_owner(), charge=charge)
    with pytest.raises(months.MonthRefused, match="held"):
        months.close_month(january)
    settle(charge, 60)
    assert months.close_month(january).charges == 1
    assert intact()


def test_a_month_whose_books_are_wrong_is_not_closed_and_goes_on(january: date) -> None:
    alice = new_account(balance=10_000)
    call(alice, january)
    assert reconciliation.check_changes() == []
    totals = ChargeTotal.objects.filter(account=alice)
    totals.update(balance=1)
    with pytest.raises(months.MonthRefused, match="not those of its rows"):
        months.close_month(january)
    totals.update(balance=200)
    call(alice, january)
    assert intact()


def test_no_row_of_a_closed_month_changes_nor_is_any_added(january: date) -> None:
    alice = new_account(balance=10_000)
    charge = call(alice, january)
    months.close_month(january)
    with pytest.raises(DatabaseError, match="append-only"):
        hold(alice, 100, owner=live_owner(), charge=id_in(january))
    with pytest.raises(DatabaseError, match="append-only"):
        Charge.objects.filter(pk=charge).update(cost=1)
    assert settle(charge, 100) == "already"
    assert intact()
    months.drop_month(january)
    with pytest.raises(DatabaseError, match="closed"):
        hold(alice, 100, owner=live_owner(), charge=id_in(january))
    assert intact()


def test_a_call_that_settles_while_its_month_is_closed_is_in_it(january: date) -> None:
    alice = new_account(balance=10_000)
    charge = id_in(january)
    hold(alice, 100, owner=live_owner(), charge=charge)
    with other_connection() as other, ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN")
        other.execute(RESOLVE, (ended(charge, "settled", 60),))
        closing = pool.submit(_closed, january)
        wait_until_blocked(other)
        other.execute("COMMIT")
        assert closing.result() == 1
    assert ChargeTotal.objects.get(account=alice).balance == 120
    assert intact()


def test_a_month_is_closed_by_one_process_at_a_time(
    january: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one may not let the month go on that the first one has closed."""
    alice = new_account(balance=10_000)
    charge = call(alice, january)
    count_rows = months._count_as_totalled
    others: list[BaseException | None] = []

    def meanwhile(month: date) -> int:
        counted = count_rows(month)
        with ThreadPoolExecutor(1) as pool:
            others.append(pool.submit(_closed, month).exception())
        return counted

    monkeypatch.setattr(months, "_count_as_totalled", meanwhile)
    assert months.close_month(january).charges == 1
    assert [type(refused) for refused in others] == [months.MonthRefused]
    run("SELECT thaw_charge_month(%s)::text", january)
    with pytest.raises(DatabaseError, match="append-only"):
        Charge.objects.filter(pk=charge).update(cost=1)


def test_a_month_that_a_dead_process_has_frozen_is_closed_on_another_cluster(
    january: date,
) -> None:
    alice = new_account(balance=10_000)
    charge = call(alice, january)
    Charge.objects.filter(pk=charge).update(resolved_tx=999_999_999)
    run("SELECT freeze_charge_month(%s)", january)
    Watermark.objects.update(cluster=1, snapshot="1000000000:1000000000:")
    assert months.close_month(january).charges == 1
    assert intact()


def _closed(month: date) -> int:
    try:
        return months.close_month(month).charges
    finally:
        connection.close()


def test_a_call_begun_in_one_month_and_admitted_in_the_next_counts_in_both(january: date) -> None:
    """Its row is in the month of its id, and what it takes is the next month's."""
    alice = new_account(balance=10_000)
    charge = call(alice, january, model=IN_PLAN)
    admitted = Charge.objects.get(pk=charge).month
    months.close_month(january)
    months.drop_month(january)
    call(alice, datetime.now(UTC).date(), model=IN_PLAN)
    assert Allowance.objects.get(account=alice, month=admitted).used == 200
    assert intact()


def test_a_held_charge_that_expires_after_the_end_of_its_month_is_closed_then(
    january: date,
) -> None:
    alice = new_account(balance=10_000)
    charge = id_in(january, day=31)
    hold(alice, 100, owner=live_owner(), charge=charge)
    with pytest.raises(months.MonthRefused, match="held"):
        months.close_month(january)
    run("SELECT * FROM money_expire(%s)", charge)
    assert months.close_month(january).charges == 1
    assert not ChargeTotal.objects.filter(account=alice).exists(), "nothing was billed"
    assert intact()


def test_a_charge_of_a_closed_month_is_refunded_and_one_of_a_dropped_month_is_not(
    january: date,
) -> None:
    alice = new_account(balance=10_000)
    first, second = (call(alice, january, model=model) for model in (BALANCE_ONLY, IN_PLAN))
    rows = [Charge.objects.get(pk=charge) for charge in (first, second)]
    months.close_month(january)
    for row in rows:
        _refund(row, 50)
    assert wallet_of(alice).balance == 10_000 - 150
    assert Allowance.objects.get(account=alice).used == 50
    assert intact()

    months.drop_month(january)
    with pytest.raises(ChargeDropped):
        _refund(rows[0], 50)
    assert wallet_of(alice).balance == 10_000 - 150
    assert intact()


def _refund(charge: Charge, amount: int) -> None:
    balance.refund(operation_id=uuid7(), charge=charge, amount=amount, reason="test")


def test_a_closed_month_that_is_restored_on_another_cluster_stays_closed(january: date) -> None:
    """Its rows name transactions that this cluster has yet to count, and do not change."""
    alice = new_account(balance=10_000)
    charge = call(alice, january)
    months.close_month(january)
    with connection.cursor() as cursor:
        name = f"billing_charge_{january:%Y_%m}"
        cursor.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        Charge.objects.filter(pk=charge).update(resolved_tx=999_999_999)
        cursor.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
    Watermark.objects.update(cluster=1, snapshot="1000000000:1000000000:")

    assert reconciliation.check_everything() == [], "it is checked before the next pass"
    assert intact()
    call(alice, datetime.now(UTC).date())
    assert intact()
    months.drop_month(january)
    assert intact()


def test_a_month_that_is_not_closed_or_is_named_is_not_dropped(january: date) -> None:
    alice = new_account(balance=10_000)
    charge = call(alice, january)
    with pytest.raises(months.MonthRefused, match="not closed"):
        months.drop_month(january)
    months.close_month(january)
    run(
        "SELECT store_idempotency_key(%s, '/v1/images', 'a name', '\\x00', %s)::text",
        alice.pk,
        charge,
    )
    with pytest.raises(months.MonthRefused, match="idempotency"):
        months.drop_month(january)
    run("DELETE FROM billing_idempotencykey WHERE account_id = %s RETURNING 1", alice.pk)
    months.drop_month(january)


def test_a_drop_waits_for_readers_and_lets_calls_go_on(
    january: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = new_account(balance=10_000)
    call(alice, january)
    months.close_month(january)
    monkeypatch.setattr(months, "_ATTEMPTS", 2)
    with other_connection() as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM billing_charge")
        with pytest.raises(DatabaseError, match="lock timeout"):
            months.drop_month(january)
        call(alice, datetime.now(UTC).date())
        reader.execute("COMMIT")
    assert ChargeMonth.objects.get(pk=january).dropped_at is None
    months.drop_month(january)
    assert intact()


def test_charges_without_a_month_are_kept_and_moved_when_it_is_made() -> None:
    month = date(next(_years), 1, 1)
    alice = new_account(balance=10_000)
    charge = call(alice, month)
    before = months.count_strays()
    assert before
    assert intact()

    assert month in months.make_ahead()
    assert not months.add_month(month)

    assert months.count_strays() < before
    assert Charge.objects.get(pk=charge).cost == 100
    assert intact()
    months.close_month(month)
    months.drop_month(month)


def test_a_charge_with_another_kind_of_id_is_in_no_month() -> None:
    alice = new_account(balance=10_000)
    hold(alice, 100, owner=live_owner(), charge=(charge := UUID(int=uuid4().int | 0xFFF << 116)))
    settle(charge, 100)
    assert months.count_strays()
    assert intact()


def test_months_are_made_ahead_and_those_not_kept_are_dropped(settings: Settings) -> None:
    ahead = {month.period for month in months.list_months()}
    this = datetime.now(UTC).date().replace(day=1)
    expected = [this]
    for _ in range(months.AHEAD):
        expected.append(months.following(expected[-1]))
    assert ahead >= set(expected)

    month = date(next(_years), 1, 1)
    months.add_month(month)
    months.keep_months()
    assert ChargeMonth.objects.get(pk=month).dropped_at is None, "they are kept for ever"
    settings.CHARGES_KEPT_MONTHS = 13
    months.keep_months()
    assert ChargeMonth.objects.get(pk=month).dropped_at is not None


def test_the_command_lists_closes_and_drops(january: date) -> None:
    said = StringIO()
    name = f"{january:%Y-%m}"
    call_command("months", stdout=said)
    assert f"{name}         0 MB  open" in said.getvalue()
    with pytest.raises(CommandError, match="not closed"):
        call_command("months", "--drop", name)
    call_command("months", "--close", name, stdout=said)
    call_command("months", "--drop", name, stdout=said)
    assert f"{name} is dropped" in said.getvalue()
    with pytest.raises(CommandError, match="2026-11"):
        call_command("months", "--close", "November")
