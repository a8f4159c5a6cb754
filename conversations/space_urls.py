"""Routes under `/api/spaces`."""

from django.urls import path

from conversations.viewsets.spaces import SpaceViewSet

urlpatterns = [
    path("", SpaceViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "/<uuid:space_id>",
        SpaceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
]
