"""The clock by which money moves can be set, for one transaction, by demo histories and tests."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from billing.models import Charge, LedgerEntry
from billing.services import balance
from billing.tests.bank import at, hold, live_owner, new_account, other_connection, release, run
from common.ids import uuid7
from devserver.paths import ROOT

pytestmark = pytest.mark.usefixtures("committed")

PAST = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)


def money_now() -> datetime:
    [moment] = run("SELECT money_now()")
    assert isinstance(moment, datetime)
    return moment


def is_now(moment: datetime) -> bool:
    return abs(datetime.now(UTC) - moment) < timedelta(seconds=30)


def test_money_goes_by_the_time_of_the_database() -> None:
    assert is_now(money_now())


def test_time_goes_on_within_a_transaction() -> None:
    with transaction.atomic():
        assert money_now() < money_now()


def test_what_happens_at_a_set_time_is_of_that_time_and_month() -> None:
    with at(PAST):
        alice = new_account(balance=1_000)
        _, charge = hold(alice, 10, owner=live_owner())
        release(charge)

    row = Charge.objects.get(pk=charge)
    assert (row.admitted_at, row.resolved_at, str(row.month)) == (PAST, PAST, "2026-01-01")
    assert LedgerEntry.objects.get(account=alice).created_at == PAST


def test_months_are_those_of_utc_whatever_the_time_zone_of_the_session() -> None:
    with at(PAST):
        run("SELECT set_config('TimeZone', 'Asia/Tokyo', true)")
        assert str(run("SELECT money_month()")[0]) == "2026-01-01"


def test_the_clock_ends_with_its_transaction() -> None:
    with at(PAST):
        assert money_now() == PAST
        session = run("SELECT pg_backend_pid()")

    assert run("SELECT pg_backend_pid()") == session
    assert is_now(money_now())


def test_the_clock_ends_with_a_transaction_that_fails() -> None:
    with pytest.raises(LookupError), at(PAST):
        raise LookupError

    assert is_now(money_now())


def test_the_clock_of_one_session_is_not_that_of_another() -> None:
    alice = new_account(balance=0)
    with at(PAST), other_connection() as other:
        row = other.execute("SELECT money_now()").fetchone()

    assert row
    assert is_now(row[0])
    balance.topup(operation_id=uuid7(), account=alice, amount=1)
    assert is_now(LedgerEntry.objects.get(account=alice).created_at)


def test_nothing_but_demo_histories_and_tests_sets_the_clock() -> None:
    ours = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in (".venv", "var")]
    files = [path for folder in ours for path in folder.rglob("*.py") if "tests" not in path.parts]
    assert len(files) > 100
    setting = {
        str(path.relative_to(ROOT)) for path in files if "platform.clock" in path.read_text()
    }
    assert {name for name in setting if not re.match(r"tools/(demo|bench)/", name)} == set()
    sql = "".join(path.read_text() for path in (ROOT / "billing/sql").glob("*.sql"))
    assert "set_config" not in sql
