"""Routes under `/api/keys`."""

from django.urls import path

from publicapi.keys import KeyViewSet

urlpatterns = [
    path("", KeyViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "/<uuid:key_id>",
        KeyViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
    ),
]
