"""The hosts by their kinds."""

from collections.abc import Callable

from integrations.githosts.github import GitHub
from integrations.githosts.gitlab import GitLab
from integrations.githosts.types import GitHost, HostKind
from integrations.safe_http.rest import Renew

_HOSTS: dict[HostKind, Callable[[str, str, Renew | None], GitHost]] = {
    HostKind.GITHUB: GitHub,
    HostKind.GITLAB: GitLab,
}


def connect(kind: HostKind, base_url: str, token: str, *, renew: Renew | None = None) -> GitHost:
    """A host that is called with a token, and with what `renew` returns where that is refused;
    `base_url` is that of its pages, "" for its cloud. Raises AddressNotCalled."""
    return _HOSTS[kind](base_url, token, renew)


def commit_url(kind: HostKind, repository_url: str, commit: str) -> str:
    """The page of a commit."""
    middle = "commit" if kind == HostKind.GITHUB else "-/commit"
    return f"{repository_url}/{middle}/{commit}"
