"""Routes under `/api/files`."""

from django.urls import path

from conversations import converters  # noqa: F401 - registers <message:...>
from conversations.viewsets.files import FileViewSet

urlpatterns = [path("/<message:message_id>", FileViewSet.as_view({"get": "list"}))]
