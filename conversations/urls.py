"""Routes under `/api/conversations`."""

from django.urls import path

from conversations.viewsets.conversations import ConversationViewSet
from conversations.viewsets.sharing import SharedConversationViewSet, ShareViewSet

urlpatterns = [
    path("", ConversationViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "/<uuid:conversation_id>",
        ConversationViewSet.as_view(
            {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
    path(
        "/<uuid:conversation_id>/share",
        ShareViewSet.as_view({"post": "create", "get": "retrieve", "delete": "destroy"}),
    ),
    path("/shared/<str:share_token>", SharedConversationViewSet.as_view({"get": "retrieve"})),
]
