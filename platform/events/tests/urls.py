"""A product with streams, as an application mounts it."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import path

from accounts.types import AuthenticatedRequest
from common.viewsets import ViewSet
from events.replay import describes_replay, replay_session


class SessionViewSet(ViewSet):
    @describes_replay
    def events(self, request: AuthenticatedRequest, session_id: UUID) -> HttpResponse:
        return replay_session(request, "council", session_id)


urlpatterns = [path("sessions/<uuid:session_id>/events", SessionViewSet.as_view({"get": "events"}))]
