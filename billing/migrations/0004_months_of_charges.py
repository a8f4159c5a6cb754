"""The table of charges becomes one partition for each month of their ids. All rows are copied, in one
transaction: stop the service first."""

from datetime import UTC, date, datetime
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

# Of what is there before the scheduler looks for the first time.
AHEAD = 3
FILLFACTOR = 80


def partition(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        definitions = _take_aside(cursor)
        cursor.execute(
            "CREATE TABLE billing_charge (LIKE billing_charge_before INCLUDING DEFAULTS"
            " INCLUDING STORAGE) PARTITION BY RANGE (id)"
        )
        for month in _months(cursor):
            cursor.execute(
                f"CREATE TABLE billing_charge_{month:%Y_%m} PARTITION OF billing_charge"
                f" FOR VALUES FROM ('{_least_id(month)}') TO ('{_least_id(_next(month))}')"
                f" WITH (fillfactor = {FILLFACTOR})"
            )
        cursor.execute("CREATE TABLE billing_charge_default PARTITION OF billing_charge DEFAULT")
        # What was resolved before is older than every transaction that will be looked for.
        _copy(cursor, resolved_tx="CASE WHEN status <> 'held' THEN 0 END")
        _define(cursor, definitions)


def join(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        definitions = _take_aside(cursor)
        cursor.execute(
            "CREATE TABLE billing_charge (LIKE billing_charge_before INCLUDING DEFAULTS"
            f" INCLUDING STORAGE) WITH (fillfactor = {FILLFACTOR})"
        )
        _copy(cursor, resolved_tx="resolved_tx")
        _define(cursor, definitions)


def _take_aside(cursor: Any) -> list[str]:
    """Rename the table. Returns the statements that make its constraints and indexes."""
    # The function has a row of the table as its parameter, and is made anew after the migration.
    cursor.execute("DROP FUNCTION IF EXISTS charge_keeps_key(billing_charge)")
    cursor.execute("LOCK TABLE billing_charge IN ACCESS EXCLUSIVE MODE")
    cursor.execute(
        "SELECT format('ALTER TABLE billing_charge ADD CONSTRAINT %I %s', conname,"
        " pg_get_constraintdef(oid)) FROM pg_constraint"
        " WHERE conrelid = 'billing_charge'::regclass AND contype IN ('p', 'c')"
        " UNION ALL "
        "SELECT replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') FROM pg_index"
        " WHERE indrelid = 'billing_charge'::regclass AND NOT indisprimary"
    )
    definitions = [statement for (statement,) in cursor.fetchall()]
    cursor.execute("ALTER TABLE billing_charge RENAME TO billing_charge_before")
    return definitions


def _copy(cursor: Any, *, resolved_tx: str) -> None:
    cursor.execute(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        " WHERE attrelid = 'billing_charge'::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attname <> 'resolved_tx'"
    )
    [columns] = cursor.fetchone()
    cursor.execute(
        f"INSERT INTO billing_charge ({columns}, resolved_tx)"  # noqa: S608 - our own names
        f" SELECT {columns}, {resolved_tx} FROM billing_charge_before"
    )
    copied = cursor.rowcount
    cursor.execute("SELECT count(*) FROM billing_charge_before")
    [before] = cursor.fetchone()
    if copied != before:
        raise RuntimeError(f"{before} charges were there, and {copied} were copied.")
    cursor.execute("DROP TABLE billing_charge_before")


def _define(cursor: Any, definitions: list[str]) -> None:
    for statement in definitions:
        cursor.execute(statement)


def _months(cursor: Any) -> list[date]:
    """From the first month of a charge, or this one, to the last that is made ahead."""
    cursor.execute(
        "SELECT to_timestamp(('x' || replace(left(min(id::text), 13), '-', ''))::bit(48)::bigint"
        " / 1000.0) FROM billing_charge_before WHERE substr(id::text, 15, 1) = '7'"
    )
    [first] = cursor.fetchone()
    now = datetime.now(UTC)
    month = min(first or now, now).astimezone(UTC).date().replace(day=1)
    last = now.date().replace(day=1)
    for _ in range(AHEAD):
        last = _next(last)
    months = [month]
    while months[-1] < last:
        months.append(_next(months[-1]))
    return months


def _next(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def _least_id(month: date) -> str:
    milliseconds = int(datetime(month.year, month.month, 1, tzinfo=UTC).timestamp() * 1000)
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-0000-0000-000000000000"


# Both tables are append-only, by a trigger.
FILL = """
ALTER TABLE billing_refund DISABLE TRIGGER USER;
UPDATE billing_refund r SET model_id = c.model_id, month = c.month, tx = 0
FROM billing_charge c WHERE c.id = r.charge_id;
ALTER TABLE billing_refund ENABLE TRIGGER USER;
ALTER TABLE billing_ledgerentry DISABLE TRIGGER USER;
UPDATE billing_ledgerentry SET tx = 0 WHERE kind <> 'charge';
ALTER TABLE billing_ledgerentry ENABLE TRIGGER USER;
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_totals")]

    operations = [
        migrations.RunPython(partition, join),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="refund",
            name="model",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="catalog.aimodel",
            ),
        ),
        migrations.AlterField(model_name="refund", name="month", field=models.DateField()),
    ]
