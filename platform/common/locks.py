"""Locks across processes, for work that must not be done twice at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Take the lock during the block, if it is free. The session holds it: workers keep their
    sessions."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", (name,))
        is_acquired: bool = cursor.fetchone()[0]
        try:
            yield is_acquired
        finally:
            if is_acquired:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", (name,))


def hold(name: str, key: str) -> None:
    """Wait for the lock of `key`, and hold it until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", (name, key))
