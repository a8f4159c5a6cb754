"""Making a race happen."""

import time

from django.db import connection


def wait_until_blocked(waiters: int) -> None:
    """Until that many connections wait for a lock."""
    with connection.cursor() as cursor:
        for _ in range(1000):
            cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0] >= waiters:
                return
            time.sleep(0.01)
    raise AssertionError("Nobody waits.")
