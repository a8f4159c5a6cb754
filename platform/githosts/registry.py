"""The hosts by their kinds."""

from collections.abc import Callable

from githosts.github import GitHub
from githosts.gitlab import GitLab
from githosts.types import GitHost, HostKind

_HOSTS: dict[HostKind, Callable[[str, str], GitHost]] = {
    HostKind.GITHUB: GitHub,
    HostKind.GITLAB: GitLab,
}


def connect(kind: HostKind, base_url: str, token: str) -> GitHost:
    """A host that is called with a token; `base_url` is that of its pages, "" for its cloud. Raises
    AddressNotCalled."""
    return _HOSTS[kind](base_url, token)


def commit_url(kind: HostKind, repository_url: str, commit: str) -> str:
    """The page of a commit."""
    middle = "commit" if kind == HostKind.GITHUB else "-/commit"
    return f"{repository_url}/{middle}/{commit}"
