"""Locks across processes, for work that must not be done twice at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Is nobody else doing this just now? Held by the session: workers keep theirs."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", (name,))
        taken: bool = cursor.fetchone()[0]
        try:
            yield taken
        finally:
            if taken:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", (name,))


def hold(name: str, key: str) -> None:
    """Wait until nobody else is doing this to `key`, and keep others from it until the caller's
    transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", (name, key))
