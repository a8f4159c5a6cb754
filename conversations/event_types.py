"""The types of the events of replies (`conversations/events.py`) and of conversations
(`conversations/user_events.py`), and of what is sent while a reply is written
(`conversations/frames.py`)."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ai.generations.types import Kind
from conversations.models import Message
from conversations.serializers.conversations import (
    ConversationInEventSerializer,
    SpaceInEventSerializer,
)
from conversations.serializers.messages import (
    ContextField,
    MessageInEventSerializer,
    ReplyUsageSerializer,
)
from events.declarations import EventType

_STRING = serializers.CharField(read_only=True)
REPLY_EVENTS = [
    EventType(
        "reply.delta",
        "more of its text or reasoning",
        {
            "offset": serializers.IntegerField(),
            "kind": serializers.ChoiceField(get_args(Kind)),
            "text": _STRING,
        },
    ),
    EventType(
        "reply.title",
        "the conversation was given a title",
        {"title": _STRING},
    ),
    EventType(
        "reply.ended",
        "it has ended; null where its conversation was deleted",
        {"message": MessageInEventSerializer(allow_null=True)},
    ),
]

_ROW = {"conversation": ConversationInEventSerializer()}
_ID = {"conversation_id": serializers.UUIDField()}

USER_EVENTS = [
    EventType("conversation.created", "one was begun", _ROW),
    EventType(
        "conversation.updated",
        "its title (a model's too), space or model has changed; it was pinned, or one of its "
        "messages deleted",
        _ROW,
    ),
    EventType(
        "conversation.replied",
        "a reply has begun (`running`) or ended (`completed`, `failed`, `cancelled`)",
        {
            **_ID,
            "title": _STRING,
            "message_id": serializers.UUIDField(),
            "status": serializers.ChoiceField(Message.Status.choices),
        },
        {"status": "running"},
    ),
    EventType("conversation.deleted", "it is gone", _ID),
    EventType(
        "space.updated",
        "it was renamed, opened to the team, or changed otherwise",
        {"space": SpaceInEventSerializer()},
    ),
    EventType(
        "space.deleted",
        "it is gone: its conversations are in no space now. Of another member's space: it was "
        "taken back or deleted, and its conversations are gone for you, too",
        {"space_id": serializers.UUIDField()},
    ),
]


@extend_schema_serializer(component_name="ReplyStart")
class StartedReplySerializer(serializers.Serializer[object]):
    """The metadata of the beginning of a reply."""

    conversation_id = serializers.UUIDField()
    user_message_id = serializers.UUIDField()
    model = serializers.CharField(read_only=True)
    context = ContextField(allow_null=True)  # type: ignore[assignment]


@extend_schema_serializer(component_name="ReplyEnd")
class EndedReplySerializer(serializers.Serializer[object]):
    """The metadata of the end of a reply."""

    status = serializers.ChoiceField(Message.Status.choices)
    usage = ReplyUsageSerializer(allow_null=True)


@extend_schema_serializer(component_name="ReplyTitle")
class TitleSerializer(serializers.Serializer[object]):
    """The title of a conversation."""

    title = serializers.CharField(read_only=True)


def _parts(verb: str, when: str, **data: serializers.Field[Any, Any, Any, Any]) -> list[EventType]:
    """The frames of parts, of reasoning and of text."""
    return [
        EventType(f"{kind}-{verb}", when, {"id": _STRING, **data}, {"id": "1"})
        for kind in ("reasoning", "text")
    ]


# What a reply streams: the data are the fields beside `type`.
FRAMES = [
    EventType(
        "start",
        "the reply is begun, and what it may cost is held",
        {"messageId": serializers.UUIDField(), "messageMetadata": StartedReplySerializer()},
    ),
    *_parts("start", "a part of it begins"),
    *_parts("delta", "more of that part", delta=_STRING),
    *_parts("end", "the part is complete"),
    EventType(
        "data-title",
        "the conversation was given a title, after its first message. It is no part of the "
        "message. A title that takes longer than two seconds comes on your own event stream",
        {
            "id": _STRING,
            "data": TitleSerializer(),
            "transient": serializers.BooleanField(),
        },
        {"transient": True},
    ),
    EventType(
        "error",
        "the reply has failed; what had come stays",
        {
            "errorText": _STRING,
            "code": _STRING,
        },
    ),
    EventType(
        "finish",
        "it has ended: always the last",
        {
            "finishReason": serializers.ChoiceField(
                ["stop", "length", "content-filter", "error", "other"]
            ),
            "usage": ReplyUsageSerializer(allow_null=True),
            "messageMetadata": EndedReplySerializer(),
        },
    ),
]
