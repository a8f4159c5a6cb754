"""Reads that are all of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def consistent_reads() -> Iterator[None]:
    """Whatever the block reads is of the moment of its first statement. Nothing can be written in
    it, and it is no part of another transaction."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
