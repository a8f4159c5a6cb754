"""Going back to an earlier migration, as before an earlier release, and on again."""

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from common.ids import uuid7
from tests.service import database_url

EARLIER = "0001_initial"
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


def manage(url: str, *commands: str) -> list[str]:
    """What each of the commands says, carried out in one process."""
    script = (
        "import sys, django; django.setup()\n"
        "from django.core.management import call_command\n"
        "for command in sys.argv[1:]:\n"
        "    call_command(*command.split(), no_color=True)\n"
        "    print('=')\n"
    )
    paths = os.pathsep.join(part for part in sys.path if part)
    managed = subprocess.run(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", script, *commands],
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert managed.returncode == 0, managed.stderr
    return managed.stdout.split("=\n")[:-1]


def test_functions_come_with_the_newest_migration_and_stay_when_it_goes(elsewhere: str) -> None:
    earlier = f"migrate billing {EARLIER}"
    first, newest, back = manage(elsewhere, earlier, "migrate billing", earlier)
    assert LEFT_ALONE in first
    assert LEFT_ALONE not in newest
    assert LEFT_ALONE in back
    with psycopg.connect(elsewhere) as database:
        found = database.execute("SELECT count(*) FROM pg_proc WHERE proname = 'money_hold'")
        assert found.fetchone() == (1,)
