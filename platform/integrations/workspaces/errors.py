"""The errors of workspaces, and of calls to their hosts."""

from common.errors import Conflict, DomainError, NotFound, TooManyRequests, ValidationFailed
from integrations.safe_http import errors as hosts
from integrations.workspaces.types import MAX_WORKSPACES


class TooManyWorkspaces(Conflict):
    code = "too_many_workspaces"
    message = f"You have {MAX_WORKSPACES} workspaces. Disconnect one that you do not need."


class WorkspaceNeedsReauth(Conflict):
    """The workspace has the status `needs_reauth`."""

    code = "workspace_needs_reauth"
    message = (
        "The host does not accept this workspace any more. Give it a new token; where it stands on "
        "a connector, connect the account again."
    )


class WorkspaceGone(NotFound):
    code = "workspace_not_found"
    message = "The workspace of this run has been disconnected."


class RepositoryNotFound(NotFound):
    code = "repository_not_found"
    message = "The host has no such repository, or the token of the workspace does not reach it."


class HostRefused(DomainError):
    """The host understood, and does not do it."""

    code, status = "git_host_refused", 409
    message = "The host refuses this."


class HostBusy(TooManyRequests):
    code = "git_host_rate_limited"
    message = "The host wants fewer calls. Wait for Retry-After seconds."


class HostUnavailable(DomainError):
    """Whether a write was carried out is not known then."""

    code, status = "git_host_unavailable", 502
    message = "The host does not answer as it should. Try again in a moment."


def domain_error(error: hosts.HostError) -> DomainError:
    """What a host's answer means for the request that needed it."""
    match error:
        case hosts.TokenRefused():
            return WorkspaceNeedsReauth()
        case hosts.Missing():
            return RepositoryNotFound()
        case hosts.RateLimited():
            return HostBusy(str(error), retry_after=error.retry_after)
        case hosts.HostFailed():
            return HostUnavailable(f"{error} Try again in a moment.")
        case hosts.AddressNotCalled():
            return ValidationFailed.of("base_url", str(error))
        case _:
            return HostRefused(str(error))
