"""The database of the tests, with the catalog and the plans in it, as in production.

It is migrated once for all workers of a run, and each copies it: a copy takes a tenth of the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from django.test.utils import setup_databases
from psycopg import sql

from ai.catalog.services import seed_catalog
from billing.services.plans import seed_plans
from tests.former_release import migrate_with_later_tree
from tests.service import database_url

_SEEDED, _UNFINISHED = "seeded", "unfinished"
# Of PostgreSQL's advisory locks; nothing else uses them in the database that workers start from.
_LOCK = 1


def create() -> None:
    """Create the database of this worker, and use it. It is thrown away with its server."""
    name = connection.settings_dict["TEST"]["NAME"] or f"test_{connection.settings_dict['NAME']}"
    with psycopg.connect(database_url(), autocommit=True) as server, _locked(server):
        found = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (_SEEDED,))
        if found.fetchone() is None:
            _seed()
            _run(server, "ALTER DATABASE {} RENAME TO {}", _UNFINISHED, _SEEDED)
        _run(server, "CREATE DATABASE {} TEMPLATE {}", name, _SEEDED)
        # Charges lapse although the server has only just started; the tests of the grace that
        # follows an outage ask for it themselves.
        _run(server, "ALTER DATABASE {} SET platform.startup_grace = '0 seconds'", name)
    _use(name)


@contextmanager
def _locked(server: psycopg.Connection) -> Iterator[None]:
    """Keep other workers out until the block ends. The lock ends with the connection, too."""
    server.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    yield
    server.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _seed() -> None:
    """Migrate an empty database, and set it up."""
    before = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = _UNFINISHED
    setup_databases(verbosity=0, interactive=False, aliases={"default": None})
    migrate_with_later_tree(database_url())
    seed_catalog(local=True)
    seed_plans()
    _use(before)


def _use(name: str) -> None:
    """From now on this process's connections are to that database."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["NAME"] = name


def _run(server: psycopg.Connection, statement: str, *names: str) -> None:
    server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
