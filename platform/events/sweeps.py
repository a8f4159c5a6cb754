"""What keeps users' own streams short: their old events are deleted."""

from django.db import connection

KEPT_DAYS = 7
# Of one stream, however new they are.
KEPT_EVENTS = 10_000
# Streams at a time.
LIMIT = 1000


def purge_user_events(*, limit: int = LIMIT) -> int:
    """Delete what is too old in users' streams, each in a transaction of its own. Returns how many
    events."""
    purged = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                "SELECT * FROM overfull_streams(%s, %s, %s)", (KEPT_DAYS, KEPT_EVENTS, limit)
            )
            stream_ids = [row[0] for row in cursor.fetchall()]
            for stream_id in stream_ids:
                cursor.execute(
                    "SELECT purge_stream(%s, %s, %s)", (stream_id, KEPT_DAYS, KEPT_EVENTS)
                )
                purged += cursor.fetchone()[0]
            if len(stream_ids) < limit:
                return purged
