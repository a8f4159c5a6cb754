"""The types of the events of workspaces (`integrations/workspaces/user_events.py`)."""

from rest_framework import serializers

from events.declarations import EventType
from integrations.workspaces.serializers import WorkspaceSerializer

_ROW = {"workspace": WorkspaceSerializer()}

USER_EVENTS = [
    EventType("workspace.created", "one was connected", _ROW),
    EventType(
        "workspace.updated",
        "it was renamed, its token was replaced or refused, or its connector has changed",
        _ROW,
    ),
    EventType("workspace.deleted", "it is gone", {"workspace_id": serializers.UUIDField()}),
]
