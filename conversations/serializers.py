"""What `/api/conversations` and `/api/spaces` answer."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from msgspec.structs import asdict
from rest_framework import serializers

from billing.selectors.charges import ChargeUsage
from billing.serializers.usage import UsageSerializer
from common.fields import WordsField
from common.money import usd
from conversations.models import Conversation, Feedback, Message
from conversations.selectors.conversations import Detail
from conversations.selectors.messages import MessageState
from conversations.selectors.search import Match
from files.models import Upload
from files.selectors.uploads import download_url
from inference.fields import ErrorField, FinishReasonField


@extend_schema_field(
    {
        "type": "object",
        "description": "What the model was given: how many messages, how many older ones were left "
        "out because they do not fit or a provider refused them, an estimate of the tokens in all, "
        "and which files; `characters` is null of one that it could not read.",
        "properties": {
            **{name: {"type": "integer"} for name in ("messages", "omitted", "input_tokens")},
            "attachments": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "format": "uuid"},
                        "name": {"type": "string"},
                        "mime": {"type": "string"},
                        "size": {"type": "integer"},
                        "characters": {"type": ["integer", "null"]},
                    },
                },
            },
        },
    }
)
class ContextField(serializers.DictField):
    """What the model was given; null where no model was asked."""

    def to_representation(self, value: dict[str, Any]) -> Any:
        return value or None


@extend_schema_serializer(component_name="MessageAttachment")
class AttachmentSerializer(serializers.Serializer[Upload]):
    """A file that goes with a message. `mime` is what its bytes are; `size` is in bytes. `url` is a
    link to it that is good for a day and needs no credentials."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    mime = serializers.CharField(source="media_type", read_only=True)
    size = serializers.IntegerField(read_only=True)
    url = serializers.URLField(read_only=True)

    def to_representation(self, instance: Upload) -> dict[str, Any]:
        """What the fields would make of it, in a tenth of the time: see `_message`."""
        return {
            "id": str(instance.pk),
            "name": instance.name,
            "mime": instance.media_type,
            "size": instance.size,
            "url": download_url(instance),
        }


@extend_schema_serializer(component_name="MessageFeedback")
class FeedbackSerializer(serializers.Serializer[Any]):
    """What you think of a reply."""

    rating = serializers.ChoiceField(Feedback.Rating.choices, read_only=True)
    comment = WordsField()


@extend_schema_serializer(component_name="MessageInEvent")
class MessageInEventSerializer(serializers.Serializer[MessageState]):
    """A message without its texts, which travel in `reply.delta` events."""

    id = serializers.UUIDField(read_only=True)
    role = serializers.ChoiceField(Message.Role.choices, read_only=True)
    model = WordsField()
    reasoning_effort = WordsField(help_text="How hard the model was asked to think.")
    status = serializers.ChoiceField(Message.Status.choices, read_only=True)
    parent_id = serializers.UUIDField(read_only=True, allow_null=True)
    client_id = serializers.CharField(
        read_only=True,
        allow_null=True,
        help_text="The `id` that the message was sent with, by which it is found as well.",
    )
    finish_reason = FinishReasonField()
    usage = UsageSerializer(read_only=True, allow_null=True)
    error = ErrorField(read_only=True)
    context = ContextField(  # type: ignore[assignment]
        read_only=True, allow_null=True
    )
    feedback = FeedbackSerializer(read_only=True, allow_null=True)
    attachments = AttachmentSerializer(many=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)

    def to_representation(self, instance: MessageState) -> dict[str, Any]:
        shown = _message(instance)
        del shown["content"], shown["reasoning"]
        return shown


@extend_schema_serializer(component_name="Message")
class MessageSerializer(MessageInEventSerializer):
    """A message. The texts of a running reply are what has come so far; `reasoning` is null where
    the model has shown none. `usage` is there once a reply was billed."""

    content = serializers.CharField(read_only=True)
    reasoning = WordsField()

    def to_representation(self, instance: MessageState) -> dict[str, Any]:
        return _message(instance)


class MatchSerializer(serializers.Serializer[Match]):
    """The newest message that has all the words, and the part of it around one of them."""

    message_id = serializers.UUIDField(read_only=True)
    snippet = serializers.CharField(read_only=True)


class _ConversationSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    title = serializers.CharField(read_only=True)
    model = WordsField()
    space_id = serializers.UUIDField(read_only=True, allow_null=True)
    active_leaf_id = serializers.UUIDField(source="leaf_id", read_only=True, allow_null=True)
    running_message_id = serializers.UUIDField(read_only=True, allow_null=True)
    pinned = serializers.BooleanField(read_only=True, help_text="Lists begin with these.")
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(
        read_only=True, help_text="When something was said last: lists are in this order."
    )


@extend_schema_serializer(component_name="ConversationRow")
class ConversationRowSerializer(_ConversationSerializer):
    """A conversation in a list. `match` tells where a search has found it; null where it is the
    title, or nothing was searched for. Context: `matches`, by conversation id."""

    match = serializers.SerializerMethodField()

    @extend_schema_field(MatchSerializer(allow_null=True))
    def get_match(self, conversation: Conversation) -> dict[str, Any] | None:
        match = self.context["matches"].get(conversation.pk)
        return None if match is None else MatchSerializer().to_representation(match)


@extend_schema_serializer(component_name="Conversation")
class ConversationSerializer(_ConversationSerializer):
    """A conversation. `active_leaf_id` is the end of the branch that is shown,
    `running_message_id` the reply that is being written; `system` is what models are told."""

    system = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="ConversationDetail")
class ConversationDetailSerializer(ConversationSerializer):
    """A conversation with the messages of all its branches, the oldest first. What the user says
    and its replies are joined by `parent_id`; messages of the same parent are branches. `messages`
    is null where they were not asked for."""

    messages = MessageSerializer(many=True, read_only=True, allow_null=True)

    def to_representation(self, instance: Detail) -> dict[str, Any]:
        conversation = ConversationSerializer().to_representation(instance.conversation)
        conversation["running_message_id"] = instance.running_message_id
        shown = MessageSerializer().to_representation
        return {**conversation, "messages": [shown(message) for message in instance.messages]}


class DeletedConversationsSerializer(serializers.Serializer[Any]):
    """The conversations that were deleted."""

    deleted = serializers.ListField(child=serializers.UUIDField(), read_only=True)


class SpaceSerializer(serializers.Serializer[Any]):
    """A space. `instructions` go into each conversation of it; `conversations` is how many."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    instructions = serializers.CharField(read_only=True)
    conversations = serializers.IntegerField(source="conversations_count", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


def _message(state: MessageState) -> dict[str, Any]:
    """What the fields would make of it, in a tenth of the time: a conversation may have thousands
    of messages. Ids are left to the encoder."""
    shown = asdict(state)
    shown["usage"] = None if state.usage is None else _usage(state.usage)
    shown["attachments"] = [AttachmentSerializer().to_representation(e) for e in state.attachments]
    return shown


def _usage(usage: ChargeUsage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "total_tokens": usage.total_tokens,
        "cost_usd": usd(usage.cost),
        "plan_usd": usd(usage.plan),
        "balance_usd": usd(usage.balance),
    }


def conversation_in_event(conversation: Conversation) -> dict[str, Any]:
    """As a list shows it."""
    return _ConversationSerializer().to_representation(conversation)


def message_in_event(state: MessageState) -> dict[str, Any]:
    return MessageInEventSerializer().to_representation(state)
