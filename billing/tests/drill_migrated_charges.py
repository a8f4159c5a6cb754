"""A table of charges from before there were months is brought along, and nothing is lost."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from billing.invariants import INVARIANTS
from billing.tests.test_migrations import elsewhere, manage
from common.ids import uuid7

__all__ = ["elsewhere"]  # a fixture

BEFORE = "migrate billing 0002_storage"
JANUARY = datetime(2024, 1, 31, 23, 59, tzinfo=UTC)
FEBRUARY, MARCH = (datetime(2024, month, 1, 0, 1, tzinfo=UTC) for month in (2, 3))
FUTURE = datetime(2199, 1, 1, tzinfo=UTC)
# What the books are made of, without the columns that are new.
_TABLES = {
    "billing_charge": "id",
    "billing_ledgerentry": "id",
    "billing_refund": "id",
    "billing_wallet": "account_id",
    "billing_usagedaily": "day",
}


def books(database: psycopg.Connection[Any]) -> dict[str, list[dict[str, Any]]]:
    """All rows of money."""
    return {
        table: [
            {name: value for name, value in row.items() if name not in _NEW.get(table, ())}
            for (row,) in database.execute(
                f"SELECT to_jsonb(t) FROM {table} t ORDER BY {key}"  # noqa: S608 - our own names
            )
        ]
        for table, key in _TABLES.items()
    }


_NEW = {
    "billing_charge": {"resolved_tx"},
    "billing_ledgerentry": {"tx"},
    "billing_refund": {"tx", "month", "model_id"},
}


def insert(database: psycopg.Connection[Any], table: str, **columns: Any) -> None:
    names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
    database.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - our own names
        [Jsonb(value) if isinstance(value, dict) else value for value in columns.values()],
    )


def write_books(database: psycopg.Connection[Any]) -> UUID:
    """An account whose calls were settled, released and refunded, and one that runs. Returns its
    id."""
    account, refund = uuid4(), uuid7()
    insert(
        database,
        "accounts_user",
        id=account,
        email="alice@example.com",
        password="",
        name="",
        status="active",
        email_verified=True,
        token_version=1,
        is_staff=False,
        is_superuser=False,
        created_at=JANUARY,
        avatar_url="",
    )
    settled, odd = uuid7(JANUARY), UUID(int=uuid4().int | 0xFFF << 116)
    for charge, at, status in (
        (settled, FEBRUARY, "settled"),
        (uuid7(JANUARY), JANUARY, "released"),
        (uuid7(MARCH), MARCH, "held"),
        (odd, MARCH, "settled"),
    ):
        cost = 100 if status == "settled" else 0
        insert(
            database,
            "billing_charge",
            id=charge,
            account_id=account,
            model_id="kimi-k3",
            plan_id="max",
            price_version_id=1,
            source="web",
            kind="chat",
            funding="customer",
            status=status,
            request_id="",
            owner_id=uuid4(),
            admitted_at=at,
            month=at.date().replace(day=1),
            deadline_at=FUTURE,
            worst_cost=100,
            resolved_at=None if status == "held" else at,
            hold_plan=0,
            hold_balance=200,
            cost=cost,
            charge_balance=2 * cost,
            first_output_at=at if cost else None,
            units={"tokens_in": 7},
        )
        if cost:
            insert(
                database,
                "billing_usagedaily",
                account_id=account,
                model_id="kimi-k3",
                day=at.date(),
                requests=1,
                tokens_in=7,
                billed=200,
            )
    balance = 0
    for seq, (entry, kind, delta) in enumerate(
        (
            (uuid4(), "topup", 1000),
            (settled, "charge", -200),
            (refund, "refund", 50),
            (odd, "charge", -200),
        ),
        start=1,
    ):
        balance += delta
        insert(
            database,
            "billing_ledgerentry",
            id=entry,
            account_id=account,
            seq=seq,
            kind=kind,
            delta=delta,
            balance_after=balance,
            description="",
            created_at=MARCH,
        )
    insert(
        database,
        "billing_refund",
        id=refund,
        account_id=account,
        charge_id=settled,
        plan_part=0,
        balance_part=50,
        to_allowance=0,
        reason="test",
        created_at=MARCH,
    )
    insert(
        database,
        "billing_wallet",
        account_id=account,
        balance=balance,
        held=200,
        seq=4,
        open_charges=1,
    )
    return account


@pytest.mark.usefixtures("django_db_setup")
def test_charges_from_before_are_brought_along_and_back(elsewhere: str) -> None:
    manage(elsewhere, BEFORE)
    with psycopg.connect(elsewhere, autocommit=True) as database:
        account = write_books(database)
        before = books(database)

    # The invariants read prices, too.
    _, _, listed = manage(elsewhere, "migrate billing", "migrate catalog", "months")

    assert "2024-02" in listed
    assert "1 charges are in no month" in listed
    with psycopg.connect(elsewhere, autocommit=True) as database:
        assert books(database) == before
        _require_intact(database)
        _require_months(database, account)

    manage(elsewhere, BEFORE)

    with psycopg.connect(elsewhere, autocommit=True) as database:
        assert books(database) == before
        kind = database.execute("SELECT relkind::text FROM pg_class WHERE relname = %s", CHARGE)
        assert kind.fetchone() == ("r",)
        assert indexes(database) == 6


CHARGE = ("billing_charge",)


def indexes(database: psycopg.Connection[Any]) -> int:
    """Those whose names the models say."""
    found = database.execute(
        "SELECT count(*) FROM pg_indexes WHERE tablename = %s AND indexname LIKE 'charge%%'", CHARGE
    ).fetchone()
    return int(found[0]) if found else 0


def _require_intact(database: psycopg.Connection[Any]) -> None:
    """As the first `reconcile` does it."""
    with database.transaction():
        database.execute("SELECT count_charges_anew()")
        database.execute("SELECT check_accounts(NULL, pg_current_snapshot())")
        for invariant in INVARIANTS:
            assert database.execute(invariant.sql).fetchall() == [], invariant.name


def _require_months(database: psycopg.Connection[Any], account: UUID) -> None:
    rows = database.execute(
        "SELECT tableoid::regclass::text, count(*) FROM billing_charge GROUP BY 1 ORDER BY 1"
    )
    assert rows.fetchall() == [
        ("billing_charge_2024_01", 2),
        ("billing_charge_2024_03", 1),
        ("billing_charge_default", 1),
    ]
    refunds = database.execute("SELECT month, model_id, tx FROM billing_refund")
    assert refunds.fetchall() == [(date(2024, 2, 1), "kimi-k3", 0)]
    totals = database.execute(
        "SELECT period, month, charges, balance FROM billing_chargetotal WHERE account_id = %s"
        " ORDER BY period DESC",
        (account,),
    ).fetchall()
    assert totals[0] == (date(2024, 1, 1), date(2024, 2, 1), 1, 200)
    assert [total[1:] for total in totals[1:]] == [(date(2024, 3, 1), 1, 200)]
    assert indexes(database) == 7
