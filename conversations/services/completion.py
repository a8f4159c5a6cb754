"""The end of a reply: its row, its last event and that of its user, in one transaction."""

from typing import Any
from uuid import UUID

from django.db import connection
from msgspec import json

from accounts.models import User
from ai.generations.endings import Output
from ai.generations.types import Completion, Text
from common.ids import uuid7
from conversations import events, user_events
from conversations.models import Message
from conversations.selectors.messages import state_of, text_in_log
from conversations.serializers.messages import message_in_event
from conversations.services.publishing import for_all
from events.selectors import list_data
from events.services import append

_LOCK = """
SELECT conversation.id
FROM conversations_conversation conversation
JOIN conversations_message message ON message.conversation_id = conversation.id
WHERE message.id = %s FOR UPDATE OF conversation
"""


class ReplyOutput(Output[Message, dict[str, Any]]):
    """Writes replies. The view is the data of `reply.ended`: None for a reply that was deleted, by
    itself or with its conversation."""

    def lock(self, call_id: UUID) -> Message | None:
        with connection.cursor() as cursor:
            cursor.execute(_LOCK, (call_id,))
            if cursor.fetchone() is None:
                return None
        # It may have been deleted, and the conversation not, while that was waited for.
        replies = Message.objects.select_related(
            "conversation__account", "conversation__space", "feedback"
        )
        return replies.filter(pk=call_id).first()

    def is_open(self, call_id: UUID, row: Message | None) -> bool:
        if row is not None:
            return row.status == Message.Status.RUNNING
        return not list_data(call_id, event_type="reply.ended", after_seq=0)

    def text_in_log(self, row: Message) -> Text:
        return text_in_log(row.pk)

    def write_end(
        self, call_id: UUID, row: Message | None, completion: Completion
    ) -> dict[str, Any] | None:
        """To the reply's readers, and to all devices of its owner and of those with whom the space
        is shared."""
        if row is None:
            append(stream_id=call_id, events=[events.ended(None)])
            return None
        _write(row, completion)
        view = self.view(row)
        told = for_all(row.account_id, row.conversation.space, user_events.reply_ended(row))
        append(stream_id=call_id, events=[*completion.unsent, events.ended(view)], to_users=told)
        return view

    def view(self, row: Message | None) -> dict[str, Any] | None:
        if row is None:
            return None
        return message_in_event(state_of(_asker_of(row), row))


def _asker_of(reply: Message) -> User:
    """Who pays the reply."""
    if reply.author_id is None:
        return reply.conversation.account
    return User.objects.get(pk=reply.author_id)


REPLY = ReplyOutput()


def _write(message: Message, completion: Completion) -> None:
    message.status = completion.status
    message.content = completion.content
    message.reasoning = completion.reasoning
    message.finish_reason = completion.reason
    message.error = completion.error
    error = None if message.error is None else json.encode(message.error).decode()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reply_end(%s, %s, %s, %s, %s, %s::jsonb, %s)",
            (
                message.pk,
                message.status,
                message.content,
                message.reasoning,
                message.finish_reason,
                error,
                uuid7(),
            ),
        )
        (message.ended_at,) = cursor.fetchone()
