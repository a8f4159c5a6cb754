"""Events of conversations in the user's own stream: a row of a list has changed."""

from uuid import UUID

from conversations.models import Conversation, Message
from conversations.serializers.conversations import conversation_in_event
from events.types import USER, NewEvent, model_actor


def created(conversation: Conversation) -> NewEvent:
    """For a row of `get_listed`, as `updated`."""
    return NewEvent("conversation.created", _row(conversation), USER)


def updated(conversation: Conversation, actor: str = USER) -> NewEvent:
    """Its title, its space or another field of its row has changed."""
    return NewEvent("conversation.updated", _row(conversation), actor)


def reply_began(conversation_id: UUID, title: str, reply: Message) -> NewEvent:
    """The conversation is the newest now. Its first message may have given it the title."""
    return _replied(conversation_id, title, reply, USER)


def reply_ended(reply: Message) -> NewEvent:
    """`status` is the reply's. The reply is read with its conversation."""
    conversation = reply.conversation
    return _replied(conversation.pk, conversation.title, reply, model_actor(reply.model))


def deleted(conversation_id: UUID) -> NewEvent:
    return NewEvent("conversation.deleted", {"conversation_id": conversation_id}, USER)


def space_deleted(space_id: UUID) -> NewEvent:
    """Its conversations are in no space now."""
    return NewEvent("space.deleted", {"space_id": space_id}, USER)


def _row(conversation: Conversation) -> dict[str, object]:
    return {"conversation": conversation_in_event(conversation)}


def _replied(conversation_id: UUID, title: str, reply: Message, actor: str) -> NewEvent:
    data = {
        "conversation_id": conversation_id,
        "title": title,
        "message_id": reply.pk,
        "status": reply.status,
    }
    return NewEvent("conversation.replied", data, actor)
