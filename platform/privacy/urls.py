"""Routes under `/api/users/me/export`."""

from django.urls import path

from privacy.viewsets import ExportViewSet

urlpatterns = [
    path("", ExportViewSet.as_view({"get": "retrieve", "post": "create"})),
]
