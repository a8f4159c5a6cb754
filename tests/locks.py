"""Making a race happen."""

from typing import Any

import psycopg
from django.db import connection

from tests.service import database_url

_TRIES, _PAUSE = 500, 0.02
# Who waits for one row is in a queue: the second waits for the first of those that wait.
_BLOCKED = """
WITH RECURSIVE blocked (pid) AS (
    VALUES (%s::int)
    UNION
    SELECT a.pid FROM pg_stat_activity a JOIN blocked b ON b.pid = ANY (pg_blocking_pids(a.pid))
    WHERE a.datname = current_database()
)
SELECT count(*) - 1 FROM blocked
"""


def wait_until_blocked(holder: psycopg.Connection[Any], waiters: int = 1) -> None:
    """Until that many connections wait for locks of `holder`."""
    pid = holder.info.backend_pid
    with psycopg.connect(database_url(), autocommit=True) as observer:
        for _ in range(_TRIES):
            row = observer.execute(_BLOCKED, (pid,)).fetchone()
            if row and row[0] >= waiters:
                return
            observer.execute("SELECT pg_sleep(%s)", (_PAUSE,))
    raise AssertionError("nobody waits")


def end_blocked(holder: psycopg.Connection[Any]) -> None:
    """End the connections that wait for locks of `holder`. PostgreSQL carries out a statement whose
    client is killed: this is for tests in which the statement is to die with the client."""
    pid = holder.info.backend_pid
    with psycopg.connect(database_url(), autocommit=True) as observer:
        observer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE %s = ANY (pg_blocking_pids(pid)) AND datname = current_database()",
            (pid,),
        )


def count_deadlocks() -> int:
    """The deadlocks of this worker's test database so far, as far as its connections have told."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        count: int = cursor.fetchone()[0]
    return count
