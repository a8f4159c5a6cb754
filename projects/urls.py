"""Routes under `/api/project/`."""

from django.urls import path

from common.api import AnyAccepted
from projects.viewsets.changes import ChangesViewSet
from projects.viewsets.outcomes import OutcomeViewSet
from projects.viewsets.sessions import SessionViewSet

_ONE = "sessions/<uuid:session_id>"

urlpatterns = [
    path("sessions", SessionViewSet.as_view({"get": "list", "post": "create"})),
    path("sessions/estimate", SessionViewSet.as_view({"post": "estimate"})),
    path(
        _ONE,
        SessionViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path(f"{_ONE}/control", SessionViewSet.as_view({"post": "control"})),
    path(f"{_ONE}/message", SessionViewSet.as_view({"post": "message"})),
    path(f"{_ONE}/reassign", SessionViewSet.as_view({"post": "reassign"})),
    path(f"{_ONE}/replace", SessionViewSet.as_view({"post": "replace"})),
    path(f"{_ONE}/plan", SessionViewSet.as_view({"patch": "plan"})),
    path(f"{_ONE}/files", OutcomeViewSet.as_view({"get": "files"})),
    path(f"{_ONE}/subtasks/<uuid:subtask_id>", OutcomeViewSet.as_view({"get": "subtask"})),
    path(
        f"{_ONE}/export",
        OutcomeViewSet.as_view({"get": "export"}, content_negotiation_class=AnyAccepted),
    ),
    path(
        f"{_ONE}/deliverables.zip",
        OutcomeViewSet.as_view({"get": "archive"}, content_negotiation_class=AnyAccepted),
    ),
    path(f"{_ONE}/deliverables", OutcomeViewSet.as_view({"get": "deliverables"})),
    path(
        "deliverables/<uuid:deliverable_id>/download",
        OutcomeViewSet.as_view({"get": "download"}, content_negotiation_class=AnyAccepted),
    ),
    path(f"{_ONE}/changes", ChangesViewSet.as_view({"get": "retrieve"})),
    path(f"{_ONE}/changes/apply", ChangesViewSet.as_view({"post": "apply"})),
    path(f"{_ONE}/changes/resolve", ChangesViewSet.as_view({"post": "resolve"})),
    path(f"{_ONE}/changes/discard", ChangesViewSet.as_view({"post": "discard"})),
    path(f"{_ONE}/events", SessionViewSet.as_view({"get": "events"})),
]
