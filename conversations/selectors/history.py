"""The messages of a conversation, of which there may be thousands: all of them, or a page."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from msgspec import json
from msgspec.structs import replace

from accounts.models import User
from billing.selectors.charges import get_usage
from common.times import ISO_UTC_SQL
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.branches import branch_ids
from conversations.selectors.messages import MessageState, by_message, id_of, text_in_log

# In the form of the answer and the order of MessageState, with the user's feedback: parsing and
# formatting thousands of times in Python takes longer than all else.
_MESSAGES = """
SELECT id, role, content, nullif(reasoning, ''), nullif(model, ''), nullif(reasoning_effort, ''),
       status, parent_id, nullif(finish_reason, ''), error::text, nullif(context, '{}')::text,
       to_char(created_at AT TIME ZONE 'UTC', %(iso)s),
       to_char(ended_at AT TIME ZONE 'UTC', %(iso)s), client_id,
       coalesce(author_id, account_id),
       (SELECT json_build_object('rating', rating, 'comment', nullif(comment, ''))::text
          FROM conversations_feedback
         WHERE message_id = conversations_message.id AND account_id = %(reader)s)
  FROM conversations_message
 WHERE conversation_id = %(conversation)s AND account_id = %(owner)s
"""
_OF_PAGE = " AND id = ANY(%(ids)s::uuid[])"
_OLDEST_FIRST = " ORDER BY id"
# The positions of a row's JSON, `error` and `context`, and of the fields after it.
_ERROR, _BEGAN = 9, 11


def messages_of(conversation: Conversation, **place: str | None) -> QuerySet[Message]:
    """The messages of a conversation, without their texts; of one branch alone, where `branch` is
    its last message, or None for the shown branch. Raises MessageNotFound."""
    owner_id = conversation.account_id
    messages = Message.objects.filter(account_id=owner_id, conversation=conversation).only("pk")
    if "branch" not in place:
        return messages
    branch = place["branch"]
    leaf_id = conversation.leaf_id if branch is None else id_of(conversation, "branch", branch)
    if leaf_id is None:
        return messages.none()
    return messages.filter(pk__in=branch_ids(conversation, leaf_id))


def list_states(user: User, conversation: Conversation) -> list[MessageState]:
    """The messages of all branches of a conversation, as the user sees them: the oldest first, and
    parents before their children."""
    files = Attachment.objects.filter(message__conversation=conversation)
    return _complete(user, _read(user, conversation), files)


def page_of_states(
    user: User, conversation: Conversation, message_ids: Sequence[UUID]
) -> list[MessageState]:
    """These messages of a conversation, in the opposite order of `list_states`."""
    rows = _read(user, conversation, message_ids)
    files = Attachment.objects.filter(message__in=message_ids)
    return _complete(user, rows, files)[::-1]


def _complete(
    user: User, rows: list[MessageState], attached: QuerySet[Attachment]
) -> list[MessageState]:
    """The rows with their usage, texts and files, parents first.

    Rows are read before logs: a reply that ends meanwhile appears as running, with all its text.
    """
    usage = get_usage(user, [row.id for row in rows if row.role == Message.Role.ASSISTANT])
    files = by_message(attached)
    states = []
    for row in _parents_first(rows):
        state = replace(row, usage=usage.get(row.id), attachments=files[row.id])
        if row.status == Message.Status.RUNNING:
            content, reasoning = text_in_log(row.id)
            state = replace(state, content=content, reasoning=reasoning or None)
        states.append(state)
    return states


def _read(
    user: User, conversation: Conversation, message_ids: Sequence[UUID] | None = None
) -> list[MessageState]:
    """The rows alone; of `ids`, where given."""
    asked: dict[str, Any] = {
        "conversation": conversation.pk,
        "owner": conversation.account_id,
        "reader": user.pk,
        "iso": ISO_UTC_SQL,
    }
    query = _MESSAGES
    if message_ids is not None:
        query += _OF_PAGE
        asked["ids"] = list(message_ids)
    with connection.cursor() as cursor:
        cursor.execute(query + _OLDEST_FIRST, asked)
        return [_state(row) for row in cursor.fetchall()]


def _state(row: tuple[Any, ...]) -> MessageState:
    *owned, feedback = row
    json_of = map(_read_json, owned[_ERROR:_BEGAN])
    state = MessageState(*owned[:_ERROR], *json_of, *owned[_BEGAN:])
    return replace(state, feedback=_read_json(feedback)) if feedback else state


def _read_json(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.decode(text)


def _parents_first(rows: list[MessageState]) -> list[MessageState]:
    """In the order of the ids, but parents first, because clocks differ."""
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
