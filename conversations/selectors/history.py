"""All messages of a conversation: there may be thousands."""

from uuid import UUID

import msgspec
from django.db import connection
from msgspec.structs import replace

from accounts.models import User
from billing.selectors.charges import get_usage
from conversations.models import Attachment, Message
from conversations.selectors.messages import MessageState, by_message, spoken_so_far

# As JSON, which is read in a fifth of the time that models take.
_MESSAGES = """
SELECT row_to_json(message)::text
  FROM (SELECT id, role, content, reasoning, model, reasoning_effort, status, parent_id,
               finish_reason, error, context, created_at, ended_at
          FROM conversations_message
         WHERE conversation_id = %s AND account_id = %s
         ORDER BY id) message
"""

_decode = msgspec.json.Decoder(MessageState).decode


def list_states(user: User, conversation_id: UUID) -> list[MessageState]:
    """The messages of the user's conversation, of all branches: the oldest first, and none before
    the one that it follows.

    Rows come before logs: a reply that ends meanwhile is shown as running, with all its text.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MESSAGES, (conversation_id, user.pk))
        rows = [_decode(row) for (row,) in cursor.fetchall()]
    usage = get_usage(user, [row.id for row in rows if row.role == Message.Role.ASSISTANT])
    files = by_message(Attachment.objects.filter(message__conversation=conversation_id))
    states = []
    for row in _parents_first(rows):
        state = replace(row, usage=usage.get(row.id), attachments=files[row.id])
        if row.status == Message.Status.RUNNING:
            content, reasoning = spoken_so_far(row.id)
            state = replace(state, content=content, reasoning=reasoning)
        states.append(state)
    return states


def _parents_first(rows: list[MessageState]) -> list[MessageState]:
    """In the order of the ids, which need not be that of the messages where clocks differ."""
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
