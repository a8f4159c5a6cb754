"""Branches of a conversation: the messages before a message, and those after it."""

from uuid import UUID

from django.db import connection
from django.db.models.expressions import RawSQL

from conversations.models import Conversation, Message

# A message comes after its parent, but the clocks of several machines differ, so its id may not.
_ANCESTORS = """
WITH RECURSIVE branch AS (
    SELECT id, parent_id, 0 AS height
      FROM conversations_message
     WHERE id = %s AND conversation_id = %s
    UNION ALL
    SELECT parent.id, parent.parent_id, branch.height + 1
      FROM branch JOIN conversations_message parent ON parent.id = branch.parent_id
)
"""
_MESSAGES = """
SELECT message.*,
       EXISTS (SELECT FROM conversations_attachment WHERE message_id = message.id) AS has_files
  FROM branch JOIN conversations_message message USING (id)
 ORDER BY branch.height DESC
"""
_IDS = "SELECT id FROM branch"
_DESCENDANTS = """
WITH RECURSIVE branch AS (
    SELECT id FROM conversations_message WHERE id = %s AND conversation_id = %s
    UNION ALL
    SELECT child.id FROM branch JOIN conversations_message child ON child.parent_id = branch.id
)
"""


def get_branch(conversation: Conversation, leaf_id: UUID | None) -> list[Message]:
    """The messages of the conversation from a root to that one, the root first; each knows whether
    it `has_files`. One query, or none where `leaf_id` is None."""
    if leaf_id is None:
        return []
    return list(Message.objects.raw(_ANCESTORS + _MESSAGES, (leaf_id, conversation.pk)))


def branch_ids(conversation: Conversation, leaf_id: UUID) -> RawSQL:
    """The ids of the same messages, as a subquery."""
    return RawSQL(_ANCESTORS + _IDS, (leaf_id, conversation.pk))  # noqa: S611 - with parameters


def what_follows(conversation: Conversation, message_id: UUID) -> list[UUID]:
    """The ids of a message and of all that follow it, on any branch. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_DESCENDANTS + _IDS, (message_id, conversation.pk))
        return [found for (found,) in cursor.fetchall()]


def newest_after(conversation: Conversation, message_id: UUID | None) -> UUID | None:
    """The newest message of the branches through that message, or that message; for None, of the
    whole conversation. None where there is no message."""
    messages = conversation.messages.order_by("-id")
    if message_id is not None:
        messages = messages.filter(pk__in=what_follows(conversation, message_id))
    return messages.values_list("pk", flat=True).first()
