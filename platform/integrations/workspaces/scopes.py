"""What a token has to be allowed, so that runs can read and write repositories with it."""

from collections.abc import Sequence

from integrations.githosts.types import HostKind

# Each of them suffices. `workflow` of GitHub is needed for `.github/workflows` alone.
_SUFFICIENT = {
    HostKind.GITHUB: ("repo", "public_repo"),
    HostKind.GITLAB: ("api",),
}


def missing_scope(kind: HostKind, scopes: Sequence[str] | None) -> str | None:
    """The scope that the token lacks; None where it has what it takes, or where the host does not
    say what it may do."""
    sufficient = _SUFFICIENT[kind]
    if scopes is None or any(scope in sufficient for scope in scopes):
        return None
    return sufficient[0]
