"""Calls to the hosts of workspaces."""

from collections.abc import Iterator
from contextlib import contextmanager

from common.encryption import Unreadable, decrypt
from common.threads import release_connection
from githosts.errors import GitHostError, TokenRefused
from githosts.registry import connect
from githosts.types import GitHost, HostKind
from workspaces.errors import WorkspaceNeedsReauth, domain_error
from workspaces.models import TOKEN_PURPOSE, Workspace
from workspaces.services.reauth import note_refusal
from workspaces.types import WorkspaceStatus


@contextmanager
def open_host(workspace: Workspace) -> Iterator[GitHost]:
    """The host of a workspace, to be called outside of any transaction.

    A refused token is noted. An error of the host that the block does not handle becomes the
    DomainError that it means: WorkspaceNeedsReauth, RepositoryNotFound, HostRefused, HostBusy,
    HostUnavailable, ValidationFailed.
    """
    if workspace.status == WorkspaceStatus.NEEDS_REAUTH:
        raise WorkspaceNeedsReauth
    token = _token_of(workspace)
    # Back to the pool: the host may take a while.
    release_connection()
    try:
        with connect(HostKind(workspace.provider), workspace.base_url, token) as host:
            yield host
    except GitHostError as error:
        if isinstance(error, TokenRefused):
            note_refusal(workspace=workspace)
        raise domain_error(error) from error


def _token_of(workspace: Workspace) -> str:
    """Raises WorkspaceNeedsReauth where no key reads it."""
    try:
        plain = decrypt(workspace.token, purpose=TOKEN_PURPOSE, owner=workspace.account_id)
    except Unreadable:
        note_refusal(workspace=workspace)
        raise WorkspaceNeedsReauth from None
    return plain.decode()
