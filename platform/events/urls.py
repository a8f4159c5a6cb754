"""Routes under `/api/events`."""

from django.urls import path

from events.viewsets import UserEventsViewSet

urlpatterns = [path("", UserEventsViewSet.as_view({"get": "list"}))]
