"""Writing to a stream, in the transaction of what it tells of."""

from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.db.models import Exists

from accounts.models import User
from events.doorbell import ring
from events.models import Stream
from events.types import NewEvent


def open_stream(*, stream_id: UUID, kind: str, account: User) -> None:
    """Begin the log of something new, which is its owner's for good."""
    Stream.objects.create(id=stream_id, kind=kind, account=account)


def delete_streams(*, kind: str, unless: Exists, limit: int) -> int:
    """Delete the oldest streams of a kind, at most `limit`; `unless` says which are still needed,
    with OuterRef("pk") for the stream. Returns how many."""
    streams = Stream.objects.filter(kind=kind).exclude(unless).order_by("id")
    stream_ids = list(streams.values_list("id", flat=True)[:limit])
    Stream.objects.filter(pk__in=stream_ids).delete()
    return len(stream_ids)


def append(*, stream_id: UUID, events: list[NewEvent]) -> int:
    """Append within the caller's transaction, and ring when it is committed. Returns the last seq.

    The last statement of a transaction: it takes the lock that everybody else who writes to the
    stream waits for.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An event is written in the transaction of what it tells of.")
    with connection.cursor() as cursor:
        encoded = msgspec.json.encode(events).decode()
        cursor.execute("SELECT event_append(%s, %s)", (stream_id, encoded))
        last_seq: int = cursor.fetchone()[0]
    transaction.on_commit(lambda: ring(stream_id))
    return last_seq
