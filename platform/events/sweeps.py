"""Deletes old events of users' streams."""

from django.conf import settings
from django.db import connection

# The number of events that a stream keeps, however new they are.
KEPT_EVENTS = 10_000
# Streams in one statement.
LIMIT = 1000


def purge_user_events(*, limit: int = LIMIT) -> int:
    """Delete the old events of users' streams, each stream in a transaction of its own. Returns how
    many events."""
    purged, kept_days = 0, settings.USER_EVENTS_KEPT_DAYS
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                "SELECT * FROM overfull_streams(%s, %s, %s)", (kept_days, KEPT_EVENTS, limit)
            )
            stream_ids = [row[0] for row in cursor.fetchall()]
            for stream_id in stream_ids:
                cursor.execute(
                    "SELECT purge_stream(%s, %s, %s)", (stream_id, kept_days, KEPT_EVENTS)
                )
                purged += cursor.fetchone()[0]
            if len(stream_ids) < limit:
                return purged
