"""Routes under `/api/conversations`, `/api/spaces`, `/api/files` and `/api/transcribe`."""

from django.urls import path, register_converter

from common.api import AnyAccepted
from conversations.types import MESSAGE_ID
from conversations.viewsets.conversations import ConversationViewSet
from conversations.viewsets.feedback import FeedbackViewSet
from conversations.viewsets.files import FileViewSet
from conversations.viewsets.messages import MessageViewSet
from conversations.viewsets.sharing import SharedConversationViewSet, ShareViewSet
from conversations.viewsets.spaces import SpaceViewSet
from conversations.viewsets.streams import StreamViewSet
from conversations.viewsets.transcribe import TranscribeViewSet


class MessageIdConverter:
    """A message's id, or its client's id for it. Both are compared exactly."""

    regex = MESSAGE_ID

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(MessageIdConverter, "message")

_ONE = "/<uuid:conversation_id>"
_MESSAGE = f"{_ONE}/messages/<message:message_id>"

conversation_routes = [
    path("", ConversationViewSet.as_view({"get": "list", "post": "create"})),
    path(
        _ONE,
        ConversationViewSet.as_view(
            {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
    path("/delete", ConversationViewSet.as_view({"post": "destroy_all"})),
    path(
        f"{_ONE}/export",
        ConversationViewSet.as_view({"get": "export"}, content_negotiation_class=AnyAccepted),
    ),
    path(
        f"{_ONE}/share",
        ShareViewSet.as_view({"post": "create", "get": "retrieve", "delete": "destroy"}),
    ),
    path(f"{_ONE}/messages", MessageViewSet.as_view({"get": "list", "post": "create"})),
    path(_MESSAGE, MessageViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path(f"{_MESSAGE}/feedback", FeedbackViewSet.as_view({"put": "update", "delete": "destroy"})),
    path(f"{_MESSAGE}/regenerate", MessageViewSet.as_view({"post": "regenerate"})),
    path(f"{_MESSAGE}/stop", MessageViewSet.as_view({"post": "stop"})),
    path(f"{_MESSAGE}/stream", StreamViewSet.as_view({"get": "of_message"})),
    path(f"{_ONE}/stream", StreamViewSet.as_view({"get": "of_conversation"})),
    path("/shared/<str:share_token>", SharedConversationViewSet.as_view({"get": "retrieve"})),
]
space_routes = [
    path(
        "",
        SpaceViewSet.as_view(
            {
                "get": "list",
                "post": "create",
                "patch": "update_named",
                "delete": "destroy_named",
            }
        ),
    ),
    path(
        "/<uuid:space_id>",
        SpaceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
]
file_routes = [path("/<message:message_id>", FileViewSet.as_view({"get": "list"}))]
transcribe_routes = [path("", TranscribeViewSet.as_view({"post": "create"}))]
