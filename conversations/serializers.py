"""What `/api/conversations` and `/api/spaces` answer."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from billing.serializers_call import UsageSerializer
from common.fields import WordsField
from conversations.models import Message
from conversations.selectors.messages import MessageState
from files.models import Upload
from inference.fields import ErrorField, FinishReasonField
from providers.types import ReasoningEffort


@extend_schema_field(
    {
        "type": ["object", "null"],
        "description": "What the model was given: how many messages, how many older ones were left "
        "out because they do not fit, an estimate of the tokens in all, and how many attachments.",
        "properties": {
            name: {"type": "integer"}
            for name in ("messages", "omitted", "input_tokens", "attachments")
        },
    }
)
class ContextField(serializers.DictField):
    """What the model was given; null where no model was asked."""

    def to_representation(self, value: dict[str, Any]) -> Any:
        return value or None


@extend_schema_serializer(component_name="MessageAttachment")
class AttachmentSerializer(serializers.Serializer[Upload]):
    """A file that goes with a message. `mime` is what its bytes are; `size` is in bytes."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    mime = serializers.CharField(source="media_type", read_only=True)
    size = serializers.IntegerField(read_only=True)


@extend_schema_serializer(component_name="MessageInEvent")
class MessageInEventSerializer(serializers.Serializer[MessageState]):
    """A message without its texts, which travel in `reply.delta` events."""

    id = serializers.UUIDField(read_only=True)
    role = serializers.ChoiceField(Message.Role.choices, read_only=True)
    model = WordsField()
    reasoning_effort = serializers.ChoiceField(
        get_args(ReasoningEffort), read_only=True, allow_null=True
    )
    status = serializers.ChoiceField(Message.Status.choices, read_only=True)
    parent_id = serializers.UUIDField(read_only=True, allow_null=True)
    finish_reason = FinishReasonField()
    usage = UsageSerializer(read_only=True, allow_null=True)
    error = ErrorField(read_only=True)
    context = ContextField(  # type: ignore[assignment]
        read_only=True, allow_null=True
    )
    attachments = AttachmentSerializer(many=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="Message")
class MessageSerializer(MessageInEventSerializer):
    """A message. The texts of a running reply are what has come so far; `reasoning` is null where
    the model has shown none. `usage` is there once a reply was billed."""

    content = serializers.CharField(read_only=True)
    reasoning = WordsField()


def message_in_event(state: MessageState) -> dict[str, Any]:
    return MessageInEventSerializer().to_representation(state)
