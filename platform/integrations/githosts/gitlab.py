"""GitLab's REST interface (docs.gitlab.com/api/rest), of gitlab.com and of self-hosted servers.

A commit is written in one call (Commits API). On a branch that exists, `last_commit_id` makes
GitLab refuse files that have changed since the parent; a new branch begins at the parent itself.
"""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from integrations.githosts.commits import RECENT, find_commit
from integrations.githosts.errors import BranchProtected, EmptyRepository, TipMoved
from integrations.githosts.types import (
    EXECUTABLE,
    MAX_ENTRIES,
    MAX_MESSAGE,
    MAX_PATH,
    MAX_REPOSITORY,
    Branch,
    Change,
    Commit,
    Entry,
    Repository,
    RepositoryPage,
    TokenInfo,
)
from integrations.safe_http.errors import AccessRefused, HostError, Missing, Rejected, TokenRefused
from integrations.safe_http.rest import (
    Renew,
    RestClient,
    address_of,
    decoded,
    items_of,
    name_of,
    optional_name_of,
    quoted,
    readable,
    side_by_side,
    text_of,
    texts_in,
    whole_number,
)

CLOUD = "https://gitlab.com"
_PAGE = 100
# Pages of a listing that are fetched side by side.
_PAGES_AT_ONCE = 8
# Who may push (docs.gitlab.com/api/access_requests): developers.
_DEVELOPER = 30

# What GitLab says where a file or the branch is no more what it was. Other words are refusals.
_MOVED = ("has changed since", "already exists", "doesn't exist", "does not exist", "expected")
_PROTECTED = ("not allowed to push", "protected branch")


class GitLab(RestClient):
    """An `integrations.githosts.types.GitHost`."""

    def __init__(self, base_url: str, token: str, renew: Renew | None = None) -> None:
        """`base_url` is that of the server's pages, "" for the cloud. Raises AddressNotCalled."""
        super().__init__(f"{base_url or CLOUD}/api/v4", token, renew=renew)

    def token_info(self) -> TokenInfo:
        login = self.get_login()
        try:
            token = self.get_object("/personal_access_tokens/self")
        except (AccessRefused, Missing, TokenRefused):  # the token of an application
            return TokenInfo(login=login, scopes=None, expires_at=None)
        expires_at = _expiry(token.get("expires_at"))
        return TokenInfo(login=login, scopes=texts_in(token.get("scopes")), expires_at=expires_at)

    def get_login(self) -> str:
        return name_of(self.get("/user"), "username")

    def list_repositories(self, *, query: str, page: int) -> RepositoryPage:
        search = {"search": query, "search_namespaces": "true"} if query else {}
        answer = self.send(
            "GET",
            "/projects",
            params={
                "membership": "true",
                "order_by": "last_activity_at",
                "per_page": _PAGE,
                "page": page,
                **search,
            },
        )
        found = tuple(readable(_repository, items_of(decoded(answer))))
        return RepositoryPage(found, page + 1 if answer.headers.get("x-next-page") else None)

    def get_repository(self, name: str) -> Repository:
        return _repository(self.get(_path(name)))

    def get_branch(self, repository: str, branch: str) -> Branch | None:
        try:
            url = f"{_path(repository)}/repository/branches/{quoted(branch)}"
            row = self.get_object(url)
        except Missing:
            return None
        return Branch(branch, name_of(row.get("commit"), "id"))

    def list_tree(self, repository: str, commit: str) -> list[Entry]:
        def read(number: int) -> list[dict[str, Any]]:
            url = f"{_path(repository)}/repository/tree"
            rows = self.get(url, ref=commit, recursive="true", per_page=_PAGE, page=number)
            return items_of(rows)

        try:
            rows = read(1)
        except Missing as error:
            raise EmptyRepository("The repository has no commit yet.") from error
        is_whole, number = len(rows) < _PAGE, 2
        while not is_whole:
            for page in side_by_side(read, range(number, number + _PAGES_AT_ONCE)):
                rows += page
                is_whole = is_whole or len(page) < _PAGE
            number += _PAGES_AT_ONCE
            if len(rows) > 2 * MAX_ENTRIES:
                break
        entries = [
            Entry(
                text_of(row, "path", most=MAX_PATH), name_of(row, "mode"), name_of(row, "id"), None
            )
            for row in rows
            if row.get("type") != "tree"
        ]
        if len(entries) > MAX_ENTRIES or not is_whole:
            raise Rejected(f"The repository has more than {MAX_ENTRIES:,} files.")
        return entries

    def read_blob(self, repository: str, sha: str, *, max_bytes: int) -> bytes:
        url = f"{_path(repository)}/repository/blobs/{quoted(sha)}/raw"
        return self.send("GET", url, media_types=(), max_bytes=max_bytes).body

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, commit: Commit, *, announce: Callable[[str], None]) -> str:
        body: dict[str, Any] = {
            "branch": commit.branch,
            "commit_message": commit.full_message,
            "author_name": commit.author.name,
            "author_email": commit.author.email,
            "actions": [_action(change, commit) for change in commit.changes],
        }
        if commit.is_new:
            body["start_sha"] = commit.parent
        announce("")
        url = f"{_path(commit.repository)}/repository/commits"
        try:
            return name_of(self.post(url, body), "id")
        except (Rejected, AccessRefused) as error:
            raise _of_commit(error) from None

    def find(self, repository: str, branch: str, *, commit: str, key: UUID) -> str | None:
        url = f"{_path(repository)}/repository/commits"
        try:
            rows = self.get(url, ref_name=branch, per_page=RECENT)
        except Missing:
            return None
        commits = [
            (name_of(row, "id"), text_of(row, "message", most=MAX_MESSAGE))
            for row in items_of(rows)
        ]
        return find_commit(commits, commit=commit, key=key)

    def open_pull_request(
        self, repository: str, *, branch: str, into: str, title: str, text: str
    ) -> str:
        """GitLab's merge request."""
        url = f"{_path(repository)}/merge_requests"
        body = {
            "title": title,
            "description": text,
            "source_branch": branch,
            "target_branch": into,
        }
        try:
            return address_of(self.post(url, body), "web_url")
        except Rejected:
            found = self.get(url, source_branch=branch, target_branch=into, state="opened")
            for row in items_of(found):
                return address_of(row, "web_url")
            raise


def _path(name: str) -> str:
    return f"/projects/{quoted(name)}"


def _action(change: Change, commit: Commit) -> dict[str, Any]:
    """An action of the Commits API. A file keeps its mode; only that of a new one is set. The
    content is sent in Base64, because GitLab may change the line ends of a text."""
    action: dict[str, Any] = {"action": change.op, "file_path": change.path}
    if change.op != "create" and not commit.is_new:
        action["last_commit_id"] = commit.parent
    if change.previous_path is not None:
        action["previous_path"] = change.previous_path
    if change.content is not None:
        action["content"] = base64.b64encode(change.content.encode()).decode()
        action["encoding"] = "base64"
    if change.op == "create" and change.mode == EXECUTABLE:
        action["execute_filemode"] = True
    return action


def _of_commit(error: HostError) -> HostError:
    words = str(error).lower()
    if any(each in words for each in _PROTECTED):
        return BranchProtected(str(error))
    if any(each in words for each in _MOVED):
        return TipMoved(str(error))
    return error


def _repository(row: object) -> Repository:
    row = row if isinstance(row, dict) else {}
    permissions = row.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}
    levels = [
        whole_number(access.get("access_level")) or 0
        for access in (permissions.get("project_access"), permissions.get("group_access"))
        if isinstance(access, dict)
    ]
    return Repository(
        name=name_of(row, "path_with_namespace", most=MAX_REPOSITORY),
        url=address_of(row, "web_url"),
        default_branch="" if row.get("empty_repo") else optional_name_of(row, "default_branch"),
        is_private=row.get("visibility") != "public",
        is_archived=bool(row.get("archived")),
        can_write=max(levels, default=0) >= _DEVELOPER,
    )


def _expiry(text: object) -> datetime | None:
    """A date: tokens of GitLab end at its midnight (UTC)."""
    try:
        return datetime.strptime(str(text), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
