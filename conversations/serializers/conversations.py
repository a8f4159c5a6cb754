"""Conversations and spaces in the answers of `/api`."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models import User
from common.fields import WordsField
from conversations.models import Conversation, Space
from conversations.selectors.access import Access
from conversations.selectors.conversations import Detail
from conversations.selectors.search import Match
from conversations.serializers.messages import MessageSerializer


@extend_schema_serializer(component_name="ConversationMatch")
class MatchSerializer(serializers.Serializer[Match]):
    """The newest message with all the words, and the part of it around one of them."""

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
    access = serializers.ChoiceField(
        get_args(Access),
        read_only=True,
        help_text="What you may do: `write` and `read` in a space that is shared with you.",
    )
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(
        read_only=True, help_text="When something was said last: lists are in this order."
    )


@extend_schema_serializer(component_name="ConversationRow")
class ConversationRowSerializer(_ConversationSerializer):
    """A conversation in a list. `match` is the match of a search; null where only the title
    matches, or nothing was searched for. Context: `matches`, by conversation id."""

    match = serializers.SerializerMethodField()

    @extend_schema_field(MatchSerializer(allow_null=True))
    def get_match(self, conversation: Conversation) -> dict[str, Any] | None:
        match = self.context["matches"].get(conversation.pk)
        return None if match is None else MatchSerializer().to_representation(match)


@extend_schema_serializer(component_name="Conversation")
class ConversationSerializer(_ConversationSerializer):
    """A conversation. `active_leaf_id` is the end of the shown branch, `running_message_id` the
    running reply; `system` are the instructions for models."""

    system = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="ConversationDetail")
class ConversationDetailSerializer(ConversationSerializer):
    """A conversation with the messages of all its branches, the oldest first. `parent_id` joins
    messages and replies; messages of the same parent are branches. `messages` is null where they
    were not requested."""

    messages = MessageSerializer(many=True, read_only=True, allow_null=True)

    def to_representation(self, instance: Detail) -> dict[str, Any]:
        conversation = ConversationSerializer().to_representation(instance.conversation)
        conversation["running_message_id"] = instance.running_message_id
        shown = MessageSerializer().to_representation
        return {**conversation, "messages": [shown(message) for message in instance.messages]}


@extend_schema_serializer(component_name="ConversationInEvent")
class ConversationInEventSerializer(_ConversationSerializer):
    """A conversation as it is in lists, whatever was searched for."""


class DeletedConversationsSerializer(serializers.Serializer[Any]):
    """The conversations that were deleted."""

    deleted = serializers.ListField(child=serializers.UUIDField(), read_only=True)


class SpaceOwnerSerializer(serializers.Serializer[User]):
    """The owner of a space."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)


class _SpaceSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    shared = serializers.ChoiceField(
        Space.Shared.choices,
        read_only=True,
        allow_null=True,
        help_text="What the other members of the owner's team may do in it; null: nothing.",
    )
    owner = SpaceOwnerSerializer(source="account", read_only=True)
    access = serializers.ChoiceField(get_args(Access), read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="SpaceInEvent")
class SpaceInEventSerializer(_SpaceSerializer):
    """A space as it is in lists, without its instructions and the number of its conversations."""


class SpaceSerializer(_SpaceSerializer):
    """A space. `instructions` go into each conversation of it; `conversations` is their number.
    `access` is what you may do: `owner` of yours, else `read` or `write`."""

    instructions = serializers.CharField(read_only=True)
    conversations = serializers.IntegerField(source="conversations_count", read_only=True)


def conversation_in_event(conversation: Conversation, access: str) -> dict[str, Any]:
    """The conversation as in the lists of somebody with that access."""
    shown = ConversationInEventSerializer().to_representation(conversation)
    return {**shown, "access": access}


def space_in_event(space: Space, access: str) -> dict[str, Any]:
    """The space as in the lists of somebody with that access."""
    return {**SpaceInEventSerializer().to_representation(space), "access": access}
