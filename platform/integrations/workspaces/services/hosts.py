"""Calls to the hosts of workspaces."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from accounts.models import User
from common.encryption import Unreadable, decrypt
from common.threads import release_connection
from integrations.connectors.errors import ConnectorNeedsReauth, ConnectorUnavailable
from integrations.connectors.services import tokens
from integrations.githosts.registry import connect
from integrations.githosts.types import GitHost, HostKind, RepositoryPage
from integrations.safe_http.errors import HostError, HostFailed, TokenRefused
from integrations.workspaces.errors import WorkspaceNeedsReauth, domain_error
from integrations.workspaces.models import TOKEN_PURPOSE, Workspace
from integrations.workspaces.selectors.workspaces import get_workspace
from integrations.workspaces.services.reauth import note_refusal
from integrations.workspaces.types import WorkspaceStatus


@contextmanager
def open_host(workspace: Workspace) -> Iterator[GitHost]:
    """The host of a workspace, to be called outside of any transaction.

    A refused token is noted. An error of the host that the block does not handle becomes the
    DomainError that it means: WorkspaceNeedsReauth, RepositoryNotFound, HostRefused, HostBusy,
    HostUnavailable, ValidationFailed.
    """
    if workspace.status == WorkspaceStatus.NEEDS_REAUTH:
        raise WorkspaceNeedsReauth
    try:
        with _connected(workspace) as host:
            # Back to the pool: the host may take a while.
            release_connection()
            yield host
    except HostError as error:
        if isinstance(error, TokenRefused) and workspace.connector_id is None:
            note_refusal(workspace=workspace)
        raise domain_error(error) from error


def list_repositories(user: User, workspace_id: UUID, *, query: str, page: int) -> RepositoryPage:
    """Repositories that the token of the user's workspace reaches, the latest changed first; with
    `query` those with this text in their names. A page may be empty although there is a next one.

    Raises NotFound, WorkspaceNeedsReauth, HostBusy, HostUnavailable.
    """
    with open_host(get_workspace(user, workspace_id)) as host:
        return host.list_repositories(query=query, page=page)


def _connected(workspace: Workspace) -> GitHost:
    kind, connector = HostKind(workspace.provider), workspace.connector
    if connector is None:
        return connect(kind, workspace.base_url, _token_of(workspace))

    def renew(refused: str) -> str:
        with _errors_of_connector():
            return tokens.renew(connector=connector, refused=refused)

    with _errors_of_connector():
        token = tokens.access_token(connector=connector)
    return connect(kind, workspace.base_url, token, renew=renew)


@contextmanager
def _errors_of_connector() -> Iterator[None]:
    """Turns errors of a connector into those of the host that it leads to."""
    try:
        yield
    except ConnectorNeedsReauth as error:
        raise TokenRefused(error.text) from None
    except ConnectorUnavailable as error:
        raise HostFailed(error.text, may_be_done=False) from None


def _token_of(workspace: Workspace) -> str:
    """Raises WorkspaceNeedsReauth where no key reads it."""
    try:
        plain = decrypt(workspace.token, purpose=TOKEN_PURPOSE, owner=workspace.account_id)
    except Unreadable:
        note_refusal(workspace=workspace)
        raise WorkspaceNeedsReauth from None
    return plain.decode()
