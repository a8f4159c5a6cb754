"""What is asked of those who answer: bodies, and the place in a stream."""

import re
from typing import Any, get_args

from drf_spectacular.utils import OpenApiParameter, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request

from ai.catalog.fields import ChatModelField
from ai.providers.types import ReasoningEffort
from common.errors import ValidationFailed
from common.fields import BoundedListField, FlagField, IdField, PromptField
from conversations.fields import MessageIdField
from conversations.types import MAX_ATTACHMENTS, MAX_CONTENT

LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    description="The `id` of the last frame that came: what follows it is sent.",
)

_PARENT = "parent_id"
_OFFSET = re.compile(r"[0-9]{1,18}")


class ReplyInputSerializer(serializers.Serializer[Any]):
    """Who writes a reply, and how it is sent: as a stream, or in one JSON at its end."""

    model = ChatModelField(
        required=False,
        allow_null=True,
        help_text="Without one, the conversation's answers, or else the first of your favourites.",
    )
    reasoning_effort = serializers.ChoiceField(
        get_args(ReasoningEffort),
        required=False,
        allow_null=True,
        help_text="How hard the model is to think, if it can: else as your preferences say.",
    )
    stream = FlagField(default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A field that is null counts as absent, except `parent_id`."""
        return {name: each for name, each in attrs.items() if each is not None or name == _PARENT}


@extend_schema_serializer(component_name="MessageInput")
class SendInputSerializer(ReplyInputSerializer):
    """A message, which has words or files. `parent_id` is the message that it follows, null for a
    new beginning; without it, the message goes to the end of the branch that is shown."""

    id = MessageIdField(
        required=False,
        allow_null=True,
        source="client_id",
        help_text="What the client calls the message: a UUID, or an id as the AI SDK makes it. No "
        "other message of the conversation may have it.",
    )
    content = PromptField(max_length=MAX_CONTENT, trim_whitespace=False, allow_blank=True)
    upload_ids = BoundedListField(
        child=IdField(),
        max_length=MAX_ATTACHMENTS,
        required=False,
        allow_null=True,
    )
    parent_id = MessageIdField(required=False, allow_null=True)

    def validate_upload_ids(self, upload_ids: list[Any] | None) -> list[Any] | None:
        return upload_ids and list(dict.fromkeys(upload_ids))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(attrs)
        if not values["content"] and not values.get("upload_ids"):
            raise serializers.ValidationError({"content": "Say something, or send a file."})
        return values


def read_last_event_id(request: Request) -> int | None:
    """How many code points the client has; None where it has not even the start. Raises
    ValidationFailed."""
    sent = request.headers.get("Last-Event-ID", "")
    if not sent:
        return None
    if not _OFFSET.fullmatch(sent):
        raise ValidationFailed("`Last-Event-ID` must be the id of a frame: a whole number.")
    return int(sent)
