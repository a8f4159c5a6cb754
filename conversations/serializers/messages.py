"""Messages, replies and their files in the answers of `/api`."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from msgspec.structs import asdict
from rest_framework import serializers

from ai.inference.fields import ErrorField, FinishReasonField
from billing.selectors.charges import ChargeUsage
from billing.serializers.usage import UsageSerializer
from common.fields import UsdField, WordsField
from common.money import usd
from conversations.models import Feedback, Message
from conversations.selectors.messages import MessageState
from media.files.models import Upload
from media.files.selectors.uploads import download_url


class ReadAttachmentSerializer(serializers.Serializer[Any]):
    """A file that was given to a model; `characters` is null of one that it could not read."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    mime = serializers.CharField(read_only=True)
    size = serializers.IntegerField(read_only=True)
    characters = serializers.IntegerField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="MessageContext")
class ContextSerializer(serializers.Serializer[Any]):
    """What the model was given: how many messages, how many older ones were left out because they
    do not fit or a provider refused them, an estimate of the tokens in all, and which files."""

    messages = serializers.IntegerField(read_only=True)
    omitted = serializers.IntegerField(read_only=True)
    input_tokens = serializers.IntegerField(read_only=True)
    attachments = ReadAttachmentSerializer(many=True, read_only=True)


@extend_schema_field(ContextSerializer)
class ContextField(serializers.DictField):
    """A summary of the model's input; null where no model was called."""

    def to_representation(self, value: dict[str, Any]) -> Any:
        return value or None


@extend_schema_serializer(component_name="MessageAttachment")
class AttachmentSerializer(serializers.Serializer[Upload]):
    """A file of a message. `mime` is the type of its bytes; `size` is in bytes. `url` is a link to
    it that works for a day and needs no credentials."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    mime = serializers.CharField(source="media_type", read_only=True)
    size = serializers.IntegerField(read_only=True)
    url = serializers.URLField(read_only=True)

    def to_representation(self, instance: Upload) -> dict[str, Any]:
        """The result of the fields, in a tenth of the time: see `_message`."""
        return {
            "id": str(instance.pk),
            "name": instance.name,
            "mime": instance.media_type,
            "size": instance.size,
            "url": download_url(instance),
        }


@extend_schema_serializer(component_name="MessageFeedback")
class FeedbackSerializer(serializers.Serializer[Any]):
    """Your feedback on a reply."""

    rating = serializers.ChoiceField(Feedback.Rating.choices, read_only=True)
    comment = WordsField()


@extend_schema_serializer(component_name="ReplyUsage")
class ReplyUsageSerializer(UsageSerializer):
    """What a reply used. `listed_usd` is its cost at the listed rate; `paid_by_plan_usd` and
    `paid_by_balance_usd` are what was paid for it, null in the answer to a message while that is
    not known."""

    paid_by_plan_usd = UsdField(source="plan", allow_null=True)
    paid_by_balance_usd = UsdField(source="balance", allow_null=True)


@extend_schema_serializer(component_name="MessageInEvent")
class MessageInEventSerializer(serializers.Serializer[MessageState]):
    """A message without its texts, which are in `reply.delta` events."""

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
    author_id = serializers.UUIDField(
        read_only=True, help_text="Who has sent the message, or asked for the reply and pays it."
    )
    finish_reason = FinishReasonField()
    usage = ReplyUsageSerializer(read_only=True, allow_null=True)
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
    """A message. The texts of a running reply are those so far; `reasoning` is null where the model
    has shown none. `usage` is set once a reply was billed, for whoever has asked for it."""

    content = serializers.CharField(read_only=True)
    reasoning = WordsField()

    def to_representation(self, instance: MessageState) -> dict[str, Any]:
        return _message(instance)


class ExchangeSerializer(serializers.Serializer[dict[str, Any]]):
    """A message and its reply, which has ended. `usage` is the reply's."""

    user_message = MessageSerializer(read_only=True)
    message = MessageSerializer(read_only=True)
    usage = ReplyUsageSerializer(read_only=True, allow_null=True)


def message_in_event(state: MessageState) -> dict[str, Any]:
    return MessageInEventSerializer().to_representation(state)


def _message(state: MessageState) -> dict[str, Any]:
    """The result of the fields, in a tenth of the time: a conversation may have thousands of
    messages. Ids are left to the encoder."""
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
        "listed_usd": usd(usage.cost),
        "paid_by_plan_usd": usd(usage.plan),
        "paid_by_balance_usd": usd(usage.balance),
    }
