"""Writes to streams, in the transaction of the change that the events describe.

A session's stream has all of its events, and is written by `append`. Each user also has one stream,
which notifies all of their tabs and devices of changes in their lists (docs/api/events.md). Any
domain writes to it, at the end of the transaction of the change:

    updated = NewEvent("conversation.updated", {"conversation": row})
    append_to_user(user_id=user.pk, events=[updated])

`append` and `open_stream` do so themselves (`to_users`), and `delete_stream` (`to_user`).

Locks: the head of a session's stream comes before that of its user's, and no lock that another
transaction may hold comes after. Rows that the transaction has locked or created itself may follow,
such as its idempotency key, for which it holds the wallet.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.db.models import Exists

from accounts.models import User
from events.models import Event, Stream
from events.notifier import notify
from events.types import NewEvent, ToUser

_OPEN = "INSERT INTO events_stream (id, kind, account_id) VALUES (%s, %s, %s)"
_OPEN_AND_TELL = """
WITH opened AS (
    INSERT INTO events_stream (id, kind, account_id) VALUES (%s, %s, %s) RETURNING id
)
SELECT {told} FROM opened
"""
_APPENDED = "event_append(%s, %s)"
# Events that are rewritten in one transaction.
_REWRITTEN = 500


def open_stream(
    *, stream_id: UUID, kind: str, account: User, to_users: Iterable[ToUser] = ()
) -> None:
    """Create the log of a new resource; it belongs to its owner for good."""
    opened = (stream_id, kind, account.pk)
    told = _in_order(to_users)
    with connection.cursor() as cursor:
        if not told:
            cursor.execute(_OPEN, opened)
            return
        _check_transaction()
        statement = _OPEN_AND_TELL.format(told=", ".join([_APPENDED] * len(told)))
        cursor.execute(statement, (*opened, *_parameters(told)))
    transaction.on_commit(lambda: notify(*[user_id for user_id, _ in told]))


def append(*, stream_id: UUID, events: Sequence[NewEvent], to_users: Iterable[ToUser] = ()) -> int:
    """Append within the caller's transaction, and notify when it is committed. Returns the last seq
    of that stream.

    Call it at the end of a transaction: it takes the locks that all other writers of the streams
    wait for.
    """
    return _append((stream_id, events), *_in_order(to_users))


def append_to_user(*, user_id: UUID, events: Sequence[NewEvent]) -> None:
    """Append to the user's own stream, as `append` does to a session's.

    An event names the change (`resource.verb`), with the id of the changed row and the fields that
    lists show, and never the text of a message.
    """
    _append(ToUser(user_id, events))


def blank_for_user(
    *, user_id: UUID, resource: str, row_id: UUID, row: object, since: datetime
) -> None:
    """Leave only `row` of a deleted resource to the events that have shown it in the user's own
    stream since then. For rows with more than titles. Call it just before `append_to_user`, whose
    lock it takes."""
    _check_transaction()
    encoded = msgspec.json.encode(row).decode()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT events_blank(%s, %s, %s, %s, %s)", (user_id, resource, row_id, since, encoded)
        )


def rewrite_for_user(
    *, user_id: UUID, types: Sequence[str], rewrite: Callable[[list[Any]], None]
) -> None:
    """Let `rewrite` overwrite texts in the data of the events of these types in the user's own
    stream, as many at a time as a transaction changes. They keep their numbers, types and form. May
    be called again."""
    after_seq: int | None = 0
    while after_seq is not None:
        after_seq = _rewrite_page(user_id, types, rewrite, after_seq)


def append_to_users(to_users: Iterable[ToUser]) -> None:
    """Append to the streams of several users, in the order of their ids, so that two transactions
    do not wait for each other."""
    if in_order := _in_order(to_users):
        _append(*in_order)


def delete_stream(*, stream_id: UUID, to_user: ToUser) -> None:
    """Delete a stream with its events: its sockets are closed."""
    # Whoever appends at the same time has appended when the events are deleted.
    Stream.objects.select_for_update().filter(pk=stream_id).first()
    Stream.objects.filter(pk=stream_id).delete()
    _append(to_user)
    transaction.on_commit(lambda: notify(stream_id))


def delete_streams(*, kind: str, unless: Exists, limit: int) -> int:
    """Delete the oldest streams of a kind, at most `limit`; `unless` excludes streams that are
    still needed, with OuterRef("pk") for the stream. Returns how many."""
    streams = Stream.objects.filter(kind=kind).exclude(unless).order_by("id")
    stream_ids = list(streams.values_list("id", flat=True)[:limit])
    Stream.objects.filter(pk__in=stream_ids).delete()
    return len(stream_ids)


@transaction.atomic
def _rewrite_page(
    user_id: UUID, types: Sequence[str], rewrite: Callable[[list[Any]], None], after_seq: int
) -> int | None:
    """Rewrite the next events after a number. Returns the last seq; None where there are none."""
    # The lock of whoever purges the stream, or rewrites it for somebody else.
    Stream.objects.select_for_update(no_key=True).get(pk=user_id)
    page = Event.objects.filter(stream=user_id, seq__gt=after_seq, type__in=types)
    events = list(page.order_by("seq")[:_REWRITTEN])
    if not events:
        return None
    before = [msgspec.json.decode(event.data) for event in events]
    after = deepcopy(before)
    rewrite(after)
    for event, old, new in zip(events, before, after, strict=True):
        if new != old:
            event.data = msgspec.json.encode(new).decode()
            event.save(update_fields=["data"])
    return events[-1].seq


def _append(*appends: tuple[UUID, Sequence[NewEvent]]) -> int:
    """Write to each of the streams, in this order and in one statement. Returns the last seq of the
    first stream."""
    _check_transaction()
    written = ", ".join([_APPENDED] * len(appends))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {written}", _parameters(appends))
        last_seq: int = cursor.fetchone()[0]
    stream_ids = [stream_id for stream_id, _ in appends]
    transaction.on_commit(lambda: notify(*stream_ids))
    return last_seq


def _in_order(to_users: Iterable[ToUser]) -> list[ToUser]:
    return sorted(to_users, key=lambda to_user: to_user.user_id)


def _parameters(appends: Sequence[tuple[UUID, Sequence[NewEvent]]]) -> list[UUID | str]:
    return [part for stream_id, events in appends for part in (stream_id, _encode(events))]


def _check_transaction() -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("An event is written in the transaction of its change.")


def _encode(events: Sequence[NewEvent]) -> str:
    return msgspec.json.encode(events).decode()
