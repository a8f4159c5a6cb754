"""Routes under `/api/files`."""

from django.urls import path

from conversations.viewsets.files import FileViewSet

urlpatterns = [path("/<uuid:message_id>", FileViewSet.as_view({"get": "list"}))]
