"""Events of conversations in the user's own stream: a row of a list has changed."""

from uuid import UUID

from conversations.models import Conversation, Message, Space
from conversations.serializers.conversations import conversation_in_event, space_in_event
from events.types import USER, NewEvent, model_actor


def created(conversation: Conversation, access: str, actor: str = USER) -> NewEvent:
    """For a row of `get_listed`, as `updated`, for somebody with that access."""
    return NewEvent("conversation.created", _row(conversation, access), actor)


def updated(conversation: Conversation, access: str, actor: str = USER) -> NewEvent:
    """Its title, its space or another field of its row has changed."""
    return NewEvent("conversation.updated", _row(conversation, access), actor)


def reply_began(conversation_id: UUID, title: str, reply: Message) -> NewEvent:
    """The conversation is the newest now. Its first message may have given it the title."""
    return _replied(conversation_id, title, reply, USER)


def reply_ended(reply: Message) -> NewEvent:
    """`status` is the reply's. The reply is read with its conversation."""
    conversation = reply.conversation
    return _replied(conversation.pk, conversation.title, reply, model_actor(reply.model))


def deleted(conversation_id: UUID) -> NewEvent:
    return NewEvent("conversation.deleted", {"conversation_id": conversation_id}, USER)


def space_updated(space: Space, access: str) -> NewEvent:
    """For a space with its `account`, for somebody with that access: it was renamed, shared, or
    changed otherwise."""
    return NewEvent("space.updated", {"space": space_in_event(space, access)}, USER)


def space_deleted(space_id: UUID) -> NewEvent:
    """For its owner: its conversations are in no space now. For others: they are gone with it."""
    return NewEvent("space.deleted", {"space_id": space_id}, USER)


def _row(conversation: Conversation, access: str) -> dict[str, object]:
    return {"conversation": conversation_in_event(conversation, access)}


def _replied(conversation_id: UUID, title: str, reply: Message, actor: str) -> NewEvent:
    data = {
        "conversation_id": conversation_id,
        "title": title,
        "message_id": reply.pk,
        "status": reply.status,
    }
    return NewEvent("conversation.replied", data, actor)
