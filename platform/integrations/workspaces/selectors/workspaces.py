"""Reads workspaces."""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from common.errors import NotFound
from integrations.workspaces.models import Workspace


def list_workspaces(user: User) -> QuerySet[Workspace]:
    """Those of the user."""
    return Workspace.objects.filter(account=user)


def get_workspace(user: User, workspace_id: UUID) -> Workspace:
    """One of the user's. Raises NotFound."""
    workspace = list_workspaces(user).filter(pk=workspace_id).first()
    if workspace is None:
        raise NotFound("You have no workspace with this id.")
    return workspace
