"""Reads streams, as events are delivered.

Reads for an account check the owner of the stream. The hub checks it when a client begins to
follow, and from then on reads for all followers.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from accounts.models import User
from common.database import Lane, get_database
from common.errors import NotFound
from events.errors import EventsPurged
from events.models import Event, Stream
from events.types import Frame, Opening, Page, Place, Reading, StreamStatus

# The most that a statement reads of one stream.
PAGE_EVENTS = 100
PAGE_BYTES = 128 * 1024

_PAGE = """
SELECT page.frames, page.last_seq, s.last_seq, s.purged_seq
FROM events_stream s
CROSS JOIN LATERAL (
    SELECT string_agg(e.frame, ',' ORDER BY e.seq) AS frames, max(e.seq) AS last_seq
    FROM events_after(s.id, %(after_seq)s, %(limit)s, %(max_bytes)s) e
) page
WHERE s.id = %(stream_id)s AND s.kind = %(kind)s AND s.account_id = %(account_id)s
"""


def read_page(
    *, account: User, kind: str, stream_id: UUID, after_seq: int, limit: int, max_bytes: int
) -> Page:
    """The account's events after a number. At most `limit`, and at most `max_bytes` of text, but at
    least one where there is one. Raises NotFound, EventsPurged."""
    parameters: dict[str, str | int | UUID] = {
        "stream_id": stream_id,
        "kind": kind,
        "account_id": account.pk,
        "after_seq": after_seq,
        "limit": limit,
        "max_bytes": max_bytes,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PAGE, parameters)
        row = cursor.fetchone()
    if row is None:
        raise NotFound
    frames, last_seq, head, purged = row
    if after_seq < purged:
        raise EventsPurged(next_seq=head)
    return Page(body=f"[{frames or ''}]", next_seq=last_seq or after_seq)


def get_head(account: User, kind: str, stream_id: UUID) -> int:
    """The number of the last event of the account's stream. Raises NotFound."""
    owned = Stream.objects.filter(pk=stream_id, kind=kind, account=account)
    head = owned.values_list("last_seq", flat=True).first()
    if head is None:
        raise NotFound
    return head


def get_last_seq(stream_id: UUID) -> int:
    """The number of the stream's last event, as the caller's transaction sees it; for the app that
    writes the stream."""
    return Stream.objects.values_list("last_seq", flat=True).get(pk=stream_id)


def list_data(stream_id: UUID, *, event_type: str, after_seq: int) -> list[str]:
    """The `data` of the stream's events of a type after a number, in order, as JSON; for the app
    that writes the stream."""
    events = Event.objects.filter(stream=stream_id, seq__gt=after_seq, type=event_type)
    return list(events.order_by("seq").values_list("data", flat=True))


# --- For event loops; all raise DatabaseUnavailable -----------------------------------------------

_STATUSES = """
SELECT account.status, account.token_version, stream.last_seq, stream.purged_seq
FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::uuid[], %s::uuid[])
    WITH ORDINALITY AS opening (account_id, session_id, kind, stream_id, owner_id, number)
LEFT JOIN accounts_usersession session
    ON session.id = opening.session_id AND session.account_id = opening.account_id
LEFT JOIN accounts_user account ON account.id = session.account_id
LEFT JOIN events_stream stream
    ON stream.id = opening.stream_id AND stream.kind = opening.kind
    AND stream.account_id = opening.owner_id
ORDER BY opening.number
"""

_FRAMES = """
SELECT place.number, page.seq, page.frame, stream.last_seq
FROM unnest(%s::uuid[], %s::bigint[]) WITH ORDINALITY AS place (stream_id, seq, number)
JOIN events_stream stream ON stream.id = place.stream_id
LEFT JOIN LATERAL events_after(stream.id, place.seq, %s, %s) page ON true
ORDER BY place.number, page.seq
"""


async def read_statuses(lane: Lane, openings: Sequence[Opening]) -> list[StreamStatus]:
    """The status of each of these openings."""
    columns = tuple(map(list, zip(*openings, strict=True)))
    return [StreamStatus(*row) for row in await lane.rows(_STATUSES, columns)]


async def read_heads(stream_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The last seq of each stream."""
    rows = await get_database().rows(
        "SELECT id, last_seq FROM events_stream WHERE id = ANY (%s)", (stream_ids,)
    )
    return dict(rows)


async def read_frames(lane: Lane, places: Sequence[Place]) -> list[Reading]:
    """A page of the events after each of these places, as they are delivered."""
    stream_ids = [place.stream_id for place in places]
    afters = [place.seq for place in places]
    rows = await lane.rows(_FRAMES, (stream_ids, afters, PAGE_EVENTS, PAGE_BYTES))
    pages: list[list[Frame]] = [[] for _ in places]
    heads: list[int | None] = [None] * len(places)
    for number, seq, text, last_seq in rows:
        heads[number - 1] = last_seq
        if seq is not None:
            pages[number - 1].append(Frame(seq, text))
    return [
        Reading(
            page,
            has_more=bool(page) and head is not None and page[-1].seq < head,
            is_deleted=head is None,
        )
        for page, head in zip(pages, heads, strict=True)
    ]
