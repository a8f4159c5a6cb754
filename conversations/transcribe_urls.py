"""The route `/api/transcribe`."""

from django.urls import path

from conversations.viewsets.transcribe import TranscribeViewSet

urlpatterns = [path("", TranscribeViewSet.as_view({"post": "create"}))]
