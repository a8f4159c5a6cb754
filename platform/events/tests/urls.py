"""A product with streams, as an application mounts it."""

from django.urls import path

from common.viewsets import ViewSet
from events.replay import ReplayMixin


class SessionViewSet(ReplayMixin, ViewSet):
    kind = "council"


urlpatterns = [path("sessions/<uuid:session_id>/events", SessionViewSet.as_view({"get": "events"}))]
