"""Writes fail as they do where PostgreSQL's disk is full."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from tests.service import database_url

_FAIL = """
CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END $$"""


@contextmanager
def full_disk(table: str) -> Iterator[None]:
    """No row can be added to the table until the block ends."""
    name = sql.Identifier(table)
    # The trigger ends with its function, which ends with the connection.
    with psycopg.connect(database_url(), autocommit=True) as database:
        database.execute(_FAIL)
        database.execute(
            sql.SQL(
                "CREATE TRIGGER disk_is_full BEFORE INSERT ON {} EXECUTE FUNCTION pg_temp.fail()"
            ).format(name)
        )
        try:
            yield
        finally:
            database.execute(sql.SQL("DROP TRIGGER disk_is_full ON {}").format(name))
