"""GitLab's Commits API: several actions become one commit, or none of them is carried out."""

import base64
from typing import Literal

import msgspec
import pygit2

from simulator.githost.exchange import Refusal, Request
from simulator.githost.names import branch_is_bad, path_is_bad
from simulator.githost.repositories import Person, Repository

_STALE = "You are attempting to update a file that has changed since you started editing it."


class Action(msgspec.Struct):
    """What is done to one file."""

    action: Literal["create", "update", "delete", "move", "chmod"]
    file_path: str
    previous_path: str | None = None
    content: str | None = None
    encoding: Literal["text", "base64"] = "text"
    last_commit_id: str | None = None
    execute_filemode: bool | None = None

    @property
    def data(self) -> bytes | None:
        if self.content is None:
            return None
        if self.encoding == "base64":
            return base64.b64decode(self.content)
        return self.content.encode()


class _Body(msgspec.Struct):
    branch: str
    commit_message: str
    actions: list[Action] = []
    start_branch: str | None = None
    start_sha: str | None = None
    force: bool = False
    author_name: str = ""
    author_email: str = ""


def write_commit(request: Request, found: Repository) -> str:
    """Write the commit of a request, and return its id. Raises Refusal."""
    body = request.read(_Body)
    parent = _parent(found, body)
    commit = found.find_commit(parent) if parent is not None else None
    files = _Files(found, commit)
    for action in body.actions:
        files.apply(action)
    tree = found.write_tree(commit.tree if commit is not None else None, files.changes)
    owner = request.token.owner
    sha = found.write_commit(
        tree,
        [parent] if parent is not None else [],
        body.commit_message,
        Person(body.author_name or owner.name, body.author_email or owner.email),
        owner,
    )
    found.set_branch(body.branch, sha)
    return sha


def _parent(found: Repository, body: _Body) -> str | None:
    """The commit that the new one follows; None for the first commit of all."""
    if branch_is_bad(body.branch):
        raise Refusal(400, "Branch name is invalid")
    if body.branch in found.settings.protected:
        raise Refusal(403, "You are not allowed to push into this branch")
    tip = found.tip(body.branch)
    starts_elsewhere = body.start_sha is not None or body.start_branch not in (None, body.branch)
    if not starts_elsewhere:
        if tip is None and not found.is_empty:
            raise Refusal(400, "You can only create or edit files when you are on a branch")
        return tip
    if tip is not None and not body.force:
        words = "Switch to that branch in order to make changes"
        raise Refusal(400, f"A branch called '{body.branch}' already exists. {words}")
    others = [each for each in found.git.branches.local if each != body.branch]
    if any(each.startswith(f"{body.branch}/") for each in others) or any(
        body.branch.startswith(f"{each}/") for each in others
    ):
        raise Refusal(400, "Something went wrong when we tried to create the branch.")
    start = body.start_sha or found.tip(body.start_branch or "")
    if start is None or found.find_commit(start) is None:
        raise Refusal(400, "Cannot find start_sha or start_branch")
    return start


class _Files:
    """The files of a commit as the actions so far leave them."""

    def __init__(self, found: Repository, commit: pygit2.Commit | None) -> None:
        self._found = found
        self._commit = commit
        entries = found.entries(commit.tree) if commit is not None else []
        self._modes = {each.path: (int(each.mode, 8), each.sha) for each in entries}
        self.changes: dict[str, tuple[int, pygit2.Oid] | None] = {}

    def apply(self, action: Action) -> None:
        """Raises Refusal."""
        if path_is_bad(action.file_path):
            raise Refusal(400, "Path cannot include directory traversal")
        source = action.previous_path if action.action == "move" else action.file_path
        assert source is not None  # noqa: S101 - GitLab asks for it
        if action.action != "create":
            self._check_there(source, action)
        if action.action in ("create", "move") and action.file_path in self._modes:
            raise Refusal(400, "A file with this name already exists")
        mode, sha = self._modes.get(source, (0o100644, ""))
        if action.action in ("delete", "move"):
            del self._modes[source]
            self.changes[source] = None
        if action.action != "delete":
            self._put(action, mode, sha)

    def _check_there(self, path: str, action: Action) -> None:
        if path not in self._modes:
            raise Refusal(400, "A file with this name doesn't exist")
        if action.last_commit_id and self._commit is not None:
            mine = self._found.last_change(action.last_commit_id, path)
            if mine is not None and mine != self._found.last_change(str(self._commit.id), path):
                raise Refusal(400, _STALE)

    def _put(self, action: Action, mode: int, sha: str) -> None:
        data = action.data
        if data is not None or not sha:
            sha = str(self._found.git.create_blob(data or b""))
        if action.execute_filemode is not None:
            mode = 0o100755 if action.execute_filemode else 0o100644
        self._modes[action.file_path] = (mode, sha)
        self.changes[action.file_path] = (mode, pygit2.Oid(hex=sha))
