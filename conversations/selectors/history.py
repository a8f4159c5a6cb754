"""All messages of a conversation: there may be thousands."""

from typing import Any
from uuid import UUID

from django.db import connection
from msgspec import json
from msgspec.structs import replace

from accounts.models import User
from billing.selectors.charges import get_usage
from common.times import ISO_UTC_SQL
from conversations.models import Attachment, Message
from conversations.selectors.messages import MessageState, by_message, spoken_so_far

# As they are told, in the order of MessageState: thousands of moments take longer to read and to
# write again than all else.
_MESSAGES = """
SELECT id, role, content, nullif(reasoning, ''), nullif(model, ''), nullif(reasoning_effort, ''),
       status, parent_id, nullif(finish_reason, ''), error::text, nullif(context, '{}')::text,
       to_char(created_at AT TIME ZONE 'UTC', %(iso)s),
       to_char(ended_at AT TIME ZONE 'UTC', %(iso)s)
  FROM conversations_message
 WHERE conversation_id = %(conversation)s AND account_id = %(account)s
 ORDER BY id
"""
# Where in a row its JSON stands, `error` and `context`, and what follows it.
_ERROR, _BEGAN = 9, 11


def list_states(user: User, conversation_id: UUID) -> list[MessageState]:
    """The messages of the user's conversation, of all branches: the oldest first, and none before
    the one that it follows.

    Rows come before logs: a reply that ends meanwhile is shown as running, with all its text.
    """
    rows = _read(user, conversation_id)
    usage = get_usage(user, [row.id for row in rows if row.role == Message.Role.ASSISTANT])
    files = by_message(Attachment.objects.filter(message__conversation=conversation_id))
    states = []
    for row in _parents_first(rows):
        state = replace(row, usage=usage.get(row.id), attachments=files[row.id])
        if row.status == Message.Status.RUNNING:
            content, reasoning = spoken_so_far(row.id)
            state = replace(state, content=content, reasoning=reasoning or None)
        states.append(state)
    return states


def _read(user: User, conversation_id: UUID) -> list[MessageState]:
    """The rows, without what belongs to them."""
    own: dict[str, Any] = {"conversation": conversation_id, "account": user.pk, "iso": ISO_UTC_SQL}
    with connection.cursor() as cursor:
        cursor.execute(_MESSAGES, own)
        return [
            MessageState(*row[:_ERROR], *map(_read_json, row[_ERROR:_BEGAN]), *row[_BEGAN:])
            for row in cursor.fetchall()
        ]


def _read_json(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.decode(text)


def _parents_first(rows: list[MessageState]) -> list[MessageState]:
    """In the order of the ids, which need not be that of the messages where clocks differ."""
    if all(row.parent_id is None or row.parent_id.int < row.id.int for row in rows):
        return rows
    unlisted: dict[UUID | None, MessageState] = {row.id: row for row in rows}
    listed: list[MessageState] = []
    for row in rows:
        path: list[MessageState] = []
        message_id: UUID | None = row.id
        while message_id in unlisted:
            path.append(unlisted.pop(message_id))
            message_id = path[-1].parent_id
        listed += reversed(path)
    return listed
