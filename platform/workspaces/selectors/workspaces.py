"""Reads workspaces, and the repositories at their hosts."""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from common.errors import NotFound
from githosts.types import RepositoryPage
from workspaces.hosts import open_host
from workspaces.models import Workspace


def list_workspaces(user: User) -> QuerySet[Workspace]:
    """Those of the user."""
    return Workspace.objects.filter(account=user)


def get_workspace(user: User, workspace_id: UUID) -> Workspace:
    """One of the user's. Raises NotFound."""
    workspace = list_workspaces(user).filter(pk=workspace_id).first()
    if workspace is None:
        raise NotFound("You have no workspace with this id.")
    return workspace


def list_repositories(user: User, workspace_id: UUID, *, query: str, page: int) -> RepositoryPage:
    """Repositories that the token of the user's workspace reaches, the latest changed first; with
    `query` those with this text in their names. A page may be empty although there is a next one.

    Raises NotFound, WorkspaceNeedsReauth, HostBusy, HostUnavailable.
    """
    with open_host(get_workspace(user, workspace_id)) as host:
        return host.list_repositories(query=query, page=page)
