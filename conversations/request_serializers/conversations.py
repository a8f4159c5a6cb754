"""The bodies and queries of `/api/conversations` and `/api/spaces`."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.catalog.fields import ChatModelField
from common.fields import BoundedListField, FlagField, IdField, TextField, TitleField
from conversations.exports import FileFormat
from conversations.fields import MessageIdField
from conversations.models import Feedback, Space
from conversations.types import (
    MAX_COMMENT,
    MAX_DELETED,
    MAX_INSTRUCTIONS,
    MAX_NAME,
    MAX_QUERY,
    MAX_SYSTEM,
    MAX_TITLE,
    MESSAGE_ID_SCHEMA,
)

ACTIVE = "active"


class SpaceInputSerializer(serializers.Serializer[Any]):
    """`instructions` go into each conversation of the space."""

    name = TitleField(max_length=MAX_NAME)
    instructions = TextField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class SpaceChangesInputSerializer(SpaceInputSerializer):
    """Omitted fields stay. `shared` opens the space to your team; null takes it back."""

    name = TitleField(max_length=MAX_NAME, required=False)
    shared = serializers.ChoiceField(Space.Shared.choices, required=False, allow_null=True)


class NamedSpaceSerializer(serializers.Serializer[Any]):
    """A space that the body or the query names."""

    id = IdField()


@extend_schema_serializer(component_name="NamedSpaceChanges")
class NamedSpaceChangesSerializer(SpaceChangesInputSerializer):
    """The changes of the space with this `id`, which the query may have instead."""

    id = IdField(required=False)


class ConversationInputSerializer(serializers.Serializer[Any]):
    """Without a title it gets one after the first message. `model` answers messages that name none;
    null means your favourite."""

    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True, allow_null=True)
    model = ChatModelField(required=False, allow_null=True)
    space_id = IdField(required=False, allow_null=True)
    system = TextField(max_length=MAX_SYSTEM, required=False, allow_blank=True, allow_null=True)

    def validate_title(self, title: str | None) -> str:
        return title or ""

    def validate_system(self, system: str | None) -> str:
        return system or ""


class ConversationChangesInputSerializer(ConversationInputSerializer):
    """Omitted fields stay. `active_leaf_id` is the end of the branch to show; a `space_id` of null
    takes the conversation out of its space, and an empty `title` restores the title by its first
    message. `pinned` conversations come before all others."""

    active_leaf_id = MessageIdField(required=False)
    pinned = FlagField(required=False)


class ConversationsDeletionInputSerializer(serializers.Serializer[Any]):
    """The conversations to delete."""

    ids = BoundedListField(child=IdField(), max_length=MAX_DELETED, allow_empty=False)


@extend_schema_serializer(component_name="MessageFeedbackInput")
class FeedbackInputSerializer(serializers.Serializer[Any]):
    """Your feedback on a reply, which replaces earlier feedback."""

    rating = serializers.ChoiceField(Feedback.Rating.choices)
    comment = TextField(
        max_length=MAX_COMMENT, required=False, allow_blank=True, allow_null=True, default=""
    )

    def validate_comment(self, comment: str | None) -> str:
        return comment or ""


class ConversationsQuerySerializer(serializers.Serializer[Any]):
    space_id = IdField(required=False, help_text="Of this space only.")
    q = serializers.CharField(
        max_length=MAX_QUERY,
        required=False,
        allow_blank=True,
        help_text="Only those that have all of these words in their title or in one message; the "
        "last one may be the beginning of a word.",
    )


@extend_schema_field(
    {"type": "string", "anyOf": [MESSAGE_ID_SCHEMA, {"const": ACTIVE}]},
)
class BranchField(MessageIdField):
    """The last message of a branch; null for `active`, the shown branch."""

    def to_internal_value(self, data: Any) -> Any:
        return None if data == ACTIVE else super().to_internal_value(data)


class MessagesQuerySerializer(serializers.Serializer[Any]):
    branch = BranchField(
        required=False,
        help_text="Only what leads to the message of this id, itself included; `active`: to the "
        "end of the branch that is shown. Else the messages of all branches.",
    )


class DetailQuerySerializer(serializers.Serializer[Any]):
    messages = serializers.ChoiceField(
        ["all", "none"], default="all", help_text="`none` leaves them out."
    )


class ExportQuerySerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(
        get_args(FileFormat),
        default="md",
        help_text="Markdown has the branch that is shown, JSON has all.",
    )
