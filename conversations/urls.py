"""Routes under `/api/conversations`."""

from django.urls import path

from conversations.viewsets.sharing import SharedConversationViewSet, ShareViewSet

urlpatterns = [
    path(
        "/<uuid:conversation_id>/share",
        ShareViewSet.as_view({"post": "create", "get": "retrieve", "delete": "destroy"}),
    ),
    path("/shared/<str:share_token>", SharedConversationViewSet.as_view({"get": "retrieve"})),
]
