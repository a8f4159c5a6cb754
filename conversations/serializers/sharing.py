"""Shared conversations in the answers of `/api`."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from conversations.models import Message, Share
from conversations.selectors.sharing import share_token, share_url


@extend_schema_serializer(component_name="ConversationShare")
class ShareSerializer(serializers.Serializer[Share]):
    """A link to a conversation, as it was at `updated_at`."""

    share_token = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField(help_text="A page of the web app.")
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)

    def get_share_token(self, share: Share) -> str:
        return share_token(share)

    def get_url(self, share: Share) -> str:
        return share_url(share)


class SharedMessageSerializer(serializers.Serializer[Any]):
    """A message for readers of the link; `model` is the author of a reply, and `model_name` its
    name today."""

    role = serializers.ChoiceField(Message.Role.choices, read_only=True)
    content = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True, allow_null=True)
    model_name = serializers.CharField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    has_files = serializers.BooleanField(
        read_only=True, help_text="Were files attached to it? They are not shared."
    )


@extend_schema_serializer(component_name="SharedConversation")
class SharedConversationSerializer(serializers.Serializer[Any]):
    """A conversation for readers of the link, as it was when it was shared. It is answered as it
    was stored, without serializers; the names of models are added."""

    title = serializers.CharField(read_only=True)
    messages = SharedMessageSerializer(many=True, read_only=True)
