"""Locks across processes, for work that must not be done twice at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, connections


@contextmanager
def try_lock(name: str) -> Iterator[bool]:
    """Take the lock during the block, if it is free. A transaction on a connection of its own holds
    it, because a pooler may share sessions (DATABASE_POOLER)."""
    own = connections["default"].copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            # The transaction is idle as long as the block takes.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (name,))
            is_acquired: bool = cursor.fetchone()[0]
        yield is_acquired
    finally:
        try:
            own.rollback()  # a pool warns of connections that are in a transaction
        finally:
            own.close()


def hold(name: str, key: str) -> None:
    """Wait for the lock of `key`, and hold it until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", (name, key))
