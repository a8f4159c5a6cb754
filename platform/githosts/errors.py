"""What a Git host can answer instead of what it was asked for."""


class GitHostError(Exception):
    """The host does not do what it was asked. The text is a sentence for the user."""


class TokenRefused(GitHostError):
    """The token is wrong, revoked or has expired."""


class AccessRefused(GitHostError):
    """The token, or its owner, may not do this."""


class Missing(GitHostError):
    """There is no such thing, or the token does not reach it."""


class Rejected(GitHostError):
    """The host rejects what it was sent; the text contains the host's words."""


class BranchProtected(Rejected):
    """The branch takes no commits of the token's owner."""


class TipMoved(GitHostError):
    """The branch has changed since it was read, or was created meanwhile. Nothing was written."""


class EmptyRepository(GitHostError):
    """The repository has no commit yet."""


class RateLimited(GitHostError):
    """The host wants no calls for `retry_after` seconds."""

    def __init__(self, text: str, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class HostFailed(GitHostError):
    """The host does not answer, or answers what is no answer. `may_be_done`: it may have carried
    out what it was asked."""

    def __init__(self, text: str, *, may_be_done: bool) -> None:
        super().__init__(text)
        self.may_be_done = may_be_done


class AddressNotCalled(GitHostError):
    """The host's address is none that is called from here."""
