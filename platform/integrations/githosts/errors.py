"""What a Git host can answer beside the errors of every host."""

from integrations.safe_http.errors import HostError, Rejected


class BranchProtected(Rejected):
    """The branch takes no commits of the token's owner."""


class TipMoved(HostError):
    """The branch has changed since it was read, or was created meanwhile. Nothing was written."""


class EmptyRepository(HostError):
    """The repository has no commit yet."""
