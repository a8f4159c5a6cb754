"""Reading streams, as events are delivered. Whose stream it is, is asked with every read."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from common.errors import NotFound
from events.types import Page

_PAGE = """
SELECT page.frames, page.last_seq
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
    """The account's events after a number. At most `limit`, and at most `max_bytes` of text, but
    one in any case where there is one. Raises NotFound."""
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
    frames, last_seq = row
    return Page(body=f"[{frames or ''}]", next_seq=last_seq or after_seq)
