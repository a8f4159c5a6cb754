"""GitHub's REST interface (docs.github.com/rest), its cloud's and that of GitHub Enterprise Server.

A commit is written by the Git database: a tree on top of the parent's, a commit, and the branch is
moved to it, never by force.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from integrations.githosts.commits import RECENT, find_commit
from integrations.githosts.errors import BranchProtected, EmptyRepository, TipMoved
from integrations.githosts.types import (
    FILE,
    MAX_ENTRIES,
    MAX_MESSAGE,
    MAX_PATH,
    MAX_REPOSITORY,
    Branch,
    Change,
    Commit,
    Entry,
    Person,
    Repository,
    RepositoryPage,
    TokenInfo,
)
from integrations.safe_http.errors import HostError, HostFailed, Missing, Rejected
from integrations.safe_http.rest import (
    Renew,
    RestClient,
    address_of,
    decoded,
    items_of,
    name_of,
    optional_name_of,
    quoted,
    quoted_path,
    readable,
    side_by_side,
    text_of,
    whole_number,
)

CLOUD = "https://api.github.com"
_PAGE = 100
# Pages that are searched for a name in one go: GitHub's own search does not find all repositories
# that a token reaches.
_SEARCHED_PAGES = 3
# A tree takes the text of its new files up to this number of bytes in all; longer ones are sent as
# blobs.
_INLINE = 1_000_000
_RAW = {"Accept": "application/vnd.github.raw+json"}


def api_url(base_url: str) -> str:
    """The address of the interface of GitHub Enterprise Server; the cloud has one of its own."""
    return f"{base_url}/api/v3" if base_url else CLOUD


class GitHub(RestClient):
    """An `integrations.githosts.types.GitHost`."""

    def __init__(self, base_url: str, token: str, renew: Renew | None = None) -> None:
        """`base_url` is that of the server's pages, "" for the cloud. Raises AddressNotCalled."""
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        super().__init__(api_url(base_url), token, headers=headers, renew=renew)

    def token_info(self) -> TokenInfo:
        answer = self.send("GET", "/user")
        scopes = answer.headers.get("x-oauth-scopes")
        return TokenInfo(
            login=name_of(decoded(answer), "login"),
            scopes=None if scopes is None else tuple(scopes.replace(",", " ").split()),
            expires_at=_expiry(answer.headers.get("github-authentication-token-expiration", "")),
        )

    def get_login(self) -> str:
        return name_of(self.get("/user"), "login")

    def list_repositories(self, *, query: str, page: int) -> RepositoryPage:
        found: list[Repository] = []
        for number in range(page, page + (_SEARCHED_PAGES if query else 1)):
            rows = items_of(self.get("/user/repos", sort="pushed", per_page=_PAGE, page=number))
            repositories = readable(_repository, rows)
            found += [each for each in repositories if query.lower() in each.name.lower()]
            if len(rows) < _PAGE:
                return RepositoryPage(tuple(found), None)
        return RepositoryPage(tuple(found), number + 1)

    def get_repository(self, name: str) -> Repository:
        return _repository(self.get(_path(name)))

    def get_branch(self, repository: str, branch: str) -> Branch | None:
        try:
            row = self.get_object(f"{_path(repository)}/branches/{quoted(branch)}")
        except Missing:
            return None
        # The old name of a renamed branch leads to the new one.
        if row.get("name") != branch:
            return None
        return Branch(branch, name_of(row.get("commit"), "sha"))

    def list_tree(self, repository: str, commit: str) -> list[Entry]:
        try:
            url = f"{_path(repository)}/git/trees/{commit}"
            listing = self.get_object(url, recursive=1)
        except Rejected as error:
            raise EmptyRepository("The repository has no commit yet.") from error
        rows = [row for row in items_of(listing.get("tree")) if row.get("type") != "tree"]
        if listing.get("truncated") or len(rows) > MAX_ENTRIES:
            raise Rejected(f"The repository has more than {MAX_ENTRIES:,} files.")
        return [
            Entry(
                text_of(row, "path", most=MAX_PATH),
                name_of(row, "mode"),
                name_of(row, "sha"),
                whole_number(row.get("size")),
            )
            for row in rows
        ]

    def read_blob(self, repository: str, sha: str, *, max_bytes: int) -> bytes:
        answer = self.send(
            "GET",
            f"{_path(repository)}/git/blobs/{quoted(sha)}",
            headers=_RAW,
            media_types=(),
            max_bytes=max_bytes,
        )
        return answer.body

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, commit: Commit, *, announce: Callable[[str], None]) -> str:
        path = _path(commit.repository)
        body = {
            "message": commit.full_message,
            "tree": self._create_tree(commit),
            "parents": [commit.parent],
            "author": _person(commit.author),
            "committer": _person(commit.committer),
        }
        sha = name_of(self.post(f"{path}/git/commits", body), "sha")
        announce(sha)
        if commit.is_new:
            self._create_branch(commit, sha)
        else:
            self._move_branch(commit, sha)
        return sha

    def _create_tree(self, commit: Commit) -> str:
        path = _path(commit.repository)
        parent = self.get_object(f"{path}/git/commits/{commit.parent}")
        blobs = self._create_blobs(commit)
        rows = [row for change in commit.changes for row in _tree_rows(change, commit, blobs)]
        body = {"base_tree": name_of(parent.get("tree"), "sha"), "tree": rows}
        return name_of(self.post(f"{path}/git/trees", body), "sha")

    def _create_blobs(self, commit: Commit) -> dict[str, str]:
        """Blobs of the files that are too much for the tree, by path."""
        contents = {each.path: each.content for each in commit.changes if each.content is not None}
        room = _INLINE
        large: list[str] = []
        for name, content in contents.items():
            room -= len(content.encode())
            if room < 0:
                large.append(name)

        def create(name: str) -> str:
            body = {"content": contents[name], "encoding": "utf-8"}
            url = f"{_path(commit.repository)}/git/blobs"
            return name_of(self.post(url, body), "sha")

        return dict(zip(large, side_by_side(create, large), strict=True))

    def _create_branch(self, commit: Commit, sha: str) -> None:
        body = {"ref": f"refs/heads/{commit.branch}", "sha": sha}
        try:
            self.send("POST", f"{_path(commit.repository)}/git/refs", json=body)
        except Rejected as error:
            if "already exists" in str(error):
                raise TipMoved(f"The branch {commit.branch} was created meanwhile.") from None
            raise _of_branch(error) from None

    def _move_branch(self, commit: Commit, sha: str) -> None:
        url = f"{_path(commit.repository)}/git/refs/heads/{quoted_path(commit.branch)}"
        try:
            self.send("PATCH", url, json={"sha": sha, "force": False})
        except Rejected as error:
            if "fast forward" in str(error) or "does not exist" in str(error):
                raise TipMoved(f"The branch {commit.branch} has changed meanwhile.") from None
            raise _of_branch(error) from None

    def find(self, repository: str, branch: str, *, commit: str, key: UUID) -> str | None:
        try:
            rows = self.get(f"{_path(repository)}/commits", sha=branch, per_page=RECENT)
        except Missing:
            return None
        commits = [
            (name_of(row, "sha"), text_of(row.get("commit"), "message", most=MAX_MESSAGE))
            for row in items_of(rows)
        ]
        return find_commit(commits, commit=commit, key=key)

    def open_pull_request(
        self, repository: str, *, branch: str, into: str, title: str, text: str
    ) -> str:
        path, owner = _path(repository), repository.partition("/")[0]
        body = {"title": title, "body": text, "head": branch, "base": into}
        try:
            return address_of(self.post(f"{path}/pulls", body), "html_url")
        except Rejected:
            found = self.get(f"{path}/pulls", head=f"{owner}:{branch}", base=into)
            for row in items_of(found):
                return address_of(row, "html_url")
            raise


def _path(name: str) -> str:
    return f"/repos/{quoted_path(name)}"


def _person(person: Person) -> dict[str, str]:
    return {"name": person.name, "email": person.email}


def _tree_rows(change: Change, commit: Commit, blobs: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a tree for a change. A row without an object removes its path."""
    row: dict[str, Any] = {"path": change.path, "mode": change.mode, "type": "blob"}
    gone: dict[str, Any] = {"mode": FILE, "type": "blob", "sha": None}
    if change.op == "delete":
        return [{**gone, "path": change.path}]
    if change.path in blobs:
        row["sha"] = blobs[change.path]
    elif change.content is not None:
        row["content"] = change.content
    else:
        row["sha"] = commit.tree[change.previous_path or change.path].sha
    if change.op == "move":
        return [{**gone, "path": change.previous_path}, row]
    return [row]


def _of_branch(error: Rejected) -> HostError:
    words = str(error).lower()
    if "protected" in words or "rule" in words or "must be made through a pull request" in words:
        return BranchProtected(str(error))
    return error


def _repository(row: object) -> Repository:
    if not isinstance(row, dict):
        raise HostFailed("The host's answer has no repository.", may_be_done=False)
    permissions = row.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}
    return Repository(
        name=name_of(row, "full_name", most=MAX_REPOSITORY),
        url=address_of(row, "html_url"),
        default_branch=optional_name_of(row, "default_branch"),
        is_private=bool(row.get("private")),
        is_archived=bool(row.get("archived")),
        can_write=bool(permissions.get("push")),
    )


def _expiry(text: str) -> datetime | None:
    """GitHub's form: 2027-01-31 10:00:00 UTC, or with an offset."""
    for form in ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S %z"):
        try:
            moment = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - set just below
        except ValueError:
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None
