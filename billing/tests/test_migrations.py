"""Going back to an earlier migration, as before an earlier release, and on again."""

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations import RunSQL
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from common.ids import uuid7
from common.indexes import AddIndexRepeatably, RemoveIndexRepeatably
from tests.chaos.calls import wait_for
from tests.service import database_url

EARLIER = "0003_idempotency_keys"
LEFT_ALONE = "SQL functions left as they are: billing"


@pytest.fixture
def elsewhere(django_db_setup: None) -> Iterator[str]:
    """The URL of an empty database, thrown away afterwards."""
    name = f"migrated_{uuid7().hex}"
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{database_url().rpartition('/')[0]}/{name}"
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate(url: str, *targets: str) -> list[str]:
    """What `migrate billing <target>` says, for each of the targets in one process."""
    process = migrating(url, *targets)
    said, problem = process.communicate(timeout=100)
    assert process.returncode == 0, problem
    return said.split("=\n")[:-1]


def migrating(url: str, *targets: str) -> "subprocess.Popen[str]":
    script = (
        "import sys, django; django.setup()\n"
        "from django.core.management import call_command\n"
        "for target in sys.argv[1:]:\n"
        "    call_command('migrate', 'billing', *target.split(), no_color=True)\n"
        "    print('=')\n"
    )
    paths = os.pathsep.join(part for part in sys.path if part)
    return subprocess.Popen(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", script, *targets],
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_functions_come_with_the_newest_migration_and_stay_when_it_goes(elsewhere: str) -> None:
    first, newest, back = migrate(elsewhere, EARLIER, "", EARLIER)
    assert LEFT_ALONE in first
    assert LEFT_ALONE not in newest
    assert LEFT_ALONE in back
    with psycopg.connect(elsewhere) as database:
        found = database.execute("SELECT count(*) FROM pg_proc WHERE proname = 'money_hold'")
        assert found.fetchone() == (1,)


INDEX = "charge_by_request"
BEFORE_THE_INDEX = "0013_ledger_without_charges"
# Who makes the index and waits for older transactions; for how long.
WAITING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND query LIKE 'CREATE INDEX CONCURRENTLY%%' AND now() - query_start > %s::interval
"""
IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass"


def test_an_index_that_was_cut_off_is_made_by_migrating_again(elsewhere: str) -> None:
    impatient = f"{elsewhere}?options=-c%20lock_timeout%3D100ms"
    migrate(elsewhere, BEFORE_THE_INDEX)
    with psycopg.connect(elsewhere, autocommit=True) as database:

        def waiting(longer_than: str) -> int | None:
            found = database.execute(WAITING, (longer_than,)).fetchone()
            return found[0] if found else None

        with psycopg.connect(elsewhere) as older:
            older.execute("LOCK TABLE billing_charge IN ROW EXCLUSIVE MODE")
            cut_off = migrating(impatient, "")
            # That is longer than anybody else waits for a lock.
            wait_for(lambda: waiting("300 ms") is not None, seconds=60)
            database.execute("SELECT pg_terminate_backend(%s)", (waiting("0 ms"),))
            cut_off.communicate(timeout=100)
            assert cut_off.returncode != 0
            assert database.execute(IS_VALID, (INDEX,)).fetchone() == (False,)
        migrate(impatient, "")
        assert database.execute(IS_VALID, (INDEX,)).fetchone() == (True,)


def test_migrations_without_a_transaction_can_be_repeated() -> None:
    """All that they do can be done again, but for a last operation that fails whole."""
    all_of_them = MigrationLoader(None).disk_migrations.values()
    without = [
        each
        for each in all_of_them
        if not each.atomic and not type(each).__module__.startswith("django.")
    ]
    assert len(without) >= 7
    for migration in without:
        for operation in migration.operations:
            assert type(operation) not in (AddIndexConcurrently, RemoveIndexConcurrently)
        for operation in migration.operations[:-1]:
            assert isinstance(operation, AddIndexRepeatably | RemoveIndexRepeatably | RunSQL)
