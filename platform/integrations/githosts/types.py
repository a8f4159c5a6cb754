"""Repositories as both hosts have them, and what can be asked of a host."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, Protocol, Self
from uuid import UUID

from msgspec import Struct

# Git's modes of what a tree contains (git help ls-tree).
FILE: Final = "100644"
EXECUTABLE: Final = "100755"
SYMLINK: Final = "120000"
SUBMODULE: Final = "160000"

# Entries of a tree that is worked on.
MAX_ENTRIES: Final = 50_000
# Characters of a repository's full name, of a file's path, and of a commit's message.
MAX_REPOSITORY: Final = 400
MAX_PATH: Final = 4_096
MAX_MESSAGE: Final = 1_000_000

Op = Literal["create", "update", "delete", "move"]


class HostKind(StrEnum):
    """The interface that a host speaks."""

    GITHUB = "github"
    GITLAB = "gitlab"


class TokenInfo(Struct, frozen=True, kw_only=True):
    """Whose token it is, and what it may do; `scopes` are None where the host does not say."""

    login: str
    scopes: tuple[str, ...] | None
    expires_at: datetime | None


class Repository(Struct, frozen=True, kw_only=True):
    """`name` is the full one of today, like `alice/site`. `default_branch` is empty where there is
    no commit."""

    name: str
    url: str
    default_branch: str
    is_private: bool
    is_archived: bool
    can_write: bool


class RepositoryPage(Struct, frozen=True):
    """`next_page` is None on the last one."""

    repositories: tuple[Repository, ...]
    next_page: int | None


class Branch(Struct, frozen=True):
    """`commit` is the id of its newest commit."""

    name: str
    commit: str


class Entry(Struct, frozen=True):
    """A file, symlink or submodule at a commit. `sha` is the id of its blob, `size` its bytes, None
    where the host does not say."""

    path: str
    mode: str
    sha: str
    size: int | None


class Change(Struct, frozen=True, kw_only=True):
    """A file to write. `mode` is the one that it has afterwards. A moved file has its content at
    `previous_path`, unless `content` replaces it."""

    op: Op
    path: str
    content: str | None = None
    previous_path: str | None = None
    mode: str = FILE


class Person(Struct, frozen=True):
    """Whose name and address a commit bears."""

    name: str
    email: str


class Commit(Struct, frozen=True, kw_only=True):
    """A commit to write on top of `parent`, the newest commit of `branch`, or where `is_new` that
    of the branch it begins at. `tree` are the entries at `parent`, by path. `trailers` end the
    message; the last one is `Apply-Id` with the `key`, by which the commit is found again.
    GitLab takes no `committer`: there it is the owner of the token."""

    repository: str
    branch: str
    is_new: bool
    parent: str
    tree: Mapping[str, Entry]
    changes: Sequence[Change]
    message: str
    author: Person
    committer: Person
    key: UUID
    trailers: Mapping[str, str] = {}

    @property
    def full_message(self) -> str:
        trailers = {**self.trailers, "Apply-Id": str(self.key)}
        lines = "".join(f"{name}: {value}\n" for name, value in trailers.items())
        return f"{self.message.rstrip()}\n\n{lines}"


class GitHost(Protocol):
    """One host, called with one token for one request. All methods raise HostError. Their calls
    end within `integrations.safe_http.rest.SECONDS_IN_ALL`, all of them together."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def end_within(self, seconds: float) -> None:
        """From now on, all calls together end within so many seconds."""
        ...

    def token_info(self) -> TokenInfo:
        """Whose token it is."""
        ...

    def get_login(self) -> str:
        """The name of its owner."""
        ...

    def list_repositories(self, *, query: str, page: int) -> RepositoryPage:
        """Repositories that the token reaches, the latest changed first; with `query` those with
        this text in their names."""
        ...

    def get_repository(self, name: str) -> Repository:
        """The repository that has this name, or had it before. Raises Missing."""
        ...

    def get_branch(self, repository: str, branch: str) -> Branch | None:
        """None where no branch has this name now. Raises EmptyRepository."""
        ...

    def list_tree(self, repository: str, commit: str) -> list[Entry]:
        """All files, symlinks and submodules at a commit. Raises Rejected for more than
        MAX_ENTRIES."""
        ...

    def read_blob(self, repository: str, sha: str, *, max_bytes: int) -> bytes:
        """The content of a file. Raises Rejected where it is longer."""
        ...

    def write(self, commit: Commit, *, announce: Callable[[str], None]) -> str:
        """Write a commit, and return its id. The hosts take writes under today's name of a
        repository alone.

        `announce` is called before the call that makes the commit part of the branch, with the id
        of the commit where the host has given one; what `announce` raises stops the write. Raises
        TipMoved, BranchProtected, AccessRefused, Rejected: nothing was written. After a HostFailed
        that `may_be_done`, `find` says whether it was.
        """
        ...

    def find(self, repository: str, branch: str, *, commit: str, key: UUID) -> str | None:
        """The id of a commit of the branch that was written as `key`, or that has the id `commit`
        ("" for one that is not known). None: it was not written."""
        ...

    def open_pull_request(
        self, repository: str, *, branch: str, into: str, title: str, text: str
    ) -> str:
        """The URL of the pull request for these branches, which is opened where there is none."""
        ...
