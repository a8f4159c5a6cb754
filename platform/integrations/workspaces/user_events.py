"""Events of workspaces in the user's own stream."""

from uuid import UUID

from events.types import USER, NewEvent
from integrations.workspaces.models import Workspace
from integrations.workspaces.serializers import WorkspaceSerializer


def created(workspace: Workspace) -> NewEvent:
    return NewEvent("workspace.created", _shown(workspace), USER)


def updated(workspace: Workspace) -> NewEvent:
    """Its token was replaced or refused, or it was renamed."""
    return NewEvent("workspace.updated", _shown(workspace))


def deleted(workspace_id: UUID) -> NewEvent:
    return NewEvent("workspace.deleted", {"workspace_id": workspace_id}, USER)


def _shown(workspace: Workspace) -> dict[str, object]:
    return {"workspace": WorkspaceSerializer(workspace).data}
