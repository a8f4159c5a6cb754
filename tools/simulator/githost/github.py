"""The used parts of GitHub's REST interface (docs.github.com/rest)."""

import base64
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import msgspec
import pygit2

from simulator.githost.exchange import Answer, Refusal, Request, page_of
from simulator.githost.moves import moved, number_path
from simulator.githost.names import branch_is_bad, path_is_bad
from simulator.githost.repositories import Changes, Entry, Person, Repository

_MOST_ENTRIES = 100_000
_MODES = ("100644", "100755", "040000", "160000", "120000")
_EMPTY = "Git Repository is empty."


# --- Users and repositories -----------------------------------------------------------------------


def get_user(request: Request) -> Answer:
    return Answer({"login": request.token.login, "id": 1, "type": "User"})


def list_repositories(request: Request) -> Answer:
    """Those that the user has a part in; public ones of others are not listed."""
    host, token = request.host, request.token
    found = [
        _repository(request, each)
        for each in host.repositories.all()
        if host.reaches(token, each)
        and (each.owner == token.login or token.login in each.settings.members)
    ]
    return page_of(request, found)


def get_repository(request: Request) -> Answer:
    return Answer(_repository(request, _find(request)))


def _find(request: Request) -> Repository:
    return request.host.find(request.token, f"{request.path['owner']}/{request.path['repo']}")


def _repository(request: Request, found: Repository) -> dict[str, Any]:
    can_push = request.host.may_push(request.token, found)
    return {
        "id": found.id,
        "name": found.path.partition("/")[2],
        "full_name": found.path,
        "private": found.settings.is_private,
        "archived": found.settings.is_archived,
        "default_branch": found.settings.default_branch,
        "html_url": f"{request.origin}/github/{found.path}",
        "clone_url": f"{request.origin}/github/{found.path}.git",
        "permissions": {
            "admin": found.role(request.token.login) == "admin",
            "push": can_push,
            "pull": True,
        },
    }


# --- Reading --------------------------------------------------------------------------------------


def get_branch(request: Request) -> Answer:
    found, name = _find(request), request.path["branch"]
    sha = found.tip(name)
    if sha is None:
        if (renamed := found.settings.former_branches.get(name)) is not None:
            address = number_path(found, request.host)
            raise moved(f"{request.origin}{address}/branches/{quote(renamed)}")
        raise Refusal(404, "Branch not found")
    protected = name in found.settings.protected
    return Answer({"name": name, "commit": {"sha": sha}, "protected": protected})


def get_commit(request: Request) -> Answer:
    commit = _commit_of(_find(request), request.path["sha"])
    return Answer(_git_commit(commit))


def get_tree(request: Request) -> Answer:
    """The whole tree of a commit or tree, with `recursive`."""
    found = _find(request)
    if found.is_empty:
        raise Refusal(409, _EMPTY)
    commit = found.find_commit(request.path["sha"])
    tree = commit.tree if commit is not None else _object(found, request.path["sha"])
    if not isinstance(tree, pygit2.Tree):
        raise request.host.not_found()
    entries = found.entries(tree)
    if not request.query.get("recursive"):
        entries = [each for each in entries if "/" not in each.path]
    rows = [_tree_row(each) for each in entries[:_MOST_ENTRIES]]
    return Answer({"sha": str(tree.id), "tree": rows, "truncated": len(entries) > _MOST_ENTRIES})


def _tree_row(entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": entry.path,
        "mode": entry.mode,
        "type": entry.kind,
        "sha": entry.sha,
    }
    return row if entry.size is None else {**row, "size": entry.size}


def get_blob(request: Request) -> Answer:
    data = _find(request).get_blob(request.path["sha"])
    if data is None:
        raise request.host.not_found()
    if "raw" in request.headers.get("accept", ""):
        return Answer(content=data, content_type="application/vnd.github.raw+json")
    encoded = base64.b64encode(data).decode()
    return Answer({"encoding": "base64", "content": encoded, "size": len(data)})


def list_commits(request: Request) -> Answer:
    found = _find(request)
    if found.is_empty:
        raise Refusal(409, _EMPTY)
    start = _commit_of(found, request.query.get("sha") or found.settings.default_branch)
    commits = found.log(str(start.id), request.page[1])
    return Answer([{"sha": str(each.id), "commit": _git_commit(each)} for each in commits])


def _git_commit(commit: pygit2.Commit) -> dict[str, Any]:
    person = {"name": commit.author.name, "email": commit.author.email}
    return {
        "sha": str(commit.id),
        "message": commit.message,
        "author": {**person, "date": datetime.fromtimestamp(commit.commit_time, UTC)},
        "tree": {"sha": str(commit.tree_id)},
        "parents": [{"sha": str(each)} for each in commit.parent_ids],
    }


# --- Writing --------------------------------------------------------------------------------------


class _Blob(msgspec.Struct):
    content: str
    encoding: str = "utf-8"


class _Row(msgspec.Struct):
    path: str
    mode: str
    type: str = "blob"
    sha: str | msgspec.UnsetType | None = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET


class _Tree(msgspec.Struct):
    tree: list[_Row]
    base_tree: str | None = None


class _Commit(msgspec.Struct):
    message: str
    tree: str
    parents: list[str] = []
    author: Person | None = None
    committer: Person | None = None


class _Ref(msgspec.Struct):
    sha: str
    ref: str = ""
    force: bool = False


class _Pull(msgspec.Struct):
    title: str
    head: str
    base: str
    body: str | None = None


def create_blob(request: Request) -> Answer:
    found, blob = _writable(request), request.read(_Blob)
    data = blob.content.encode() if blob.encoding == "utf-8" else base64.b64decode(blob.content)
    return Answer({"sha": str(found.git.create_blob(data))}, 201)


def create_tree(request: Request) -> Answer:
    found, body = _writable(request), request.read(_Tree)
    base = _object(found, body.base_tree) if body.base_tree is not None else None
    if base is not None and not isinstance(base, pygit2.Tree):
        raise Refusal(422, "base_tree is not a valid tree")
    known = {each.path for each in found.entries(base)} if base is not None else set()
    changes: dict[str, tuple[int, pygit2.Oid] | None] = {}
    for row in body.tree:
        changes[row.path] = _change(request, found, row, known)
    tree = found.write_tree(base, _deletes_first(changes))
    return Answer({"sha": str(tree)}, 201)


def _change(
    request: Request, found: Repository, row: _Row, known: set[str]
) -> tuple[int, pygit2.Oid] | None:
    if path_is_bad(row.path):
        raise Refusal(422, f"tree.path contains a malformed path component: {row.path}")
    if row.mode not in _MODES:
        raise Refusal(422, "Must supply a valid tree.mode")
    if row.path.startswith(".github/workflows/") and not request.token.may_write_workflows:
        if request.token.kind == "fine_grained":
            raise Refusal(403, "Resource not accessible by personal access token")
        raise request.host.not_found()
    if isinstance(row.content, str):
        return int(row.mode, 8), found.git.create_blob(row.content.encode())
    if row.sha is None:
        if row.path not in known:
            raise Refusal(422, "GitRPC::BadObjectState")
        return None
    if not isinstance(row.sha, str) or (row.mode != "160000" and _object(found, row.sha) is None):
        raise Refusal(422, "tree.sha is not a valid object")
    return int(row.mode, 8), pygit2.Oid(hex=row.sha)


def _deletes_first(changes: Changes) -> Changes:
    return dict(sorted(changes.items(), key=lambda each: each[1] is not None))


def create_commit(request: Request) -> Answer:
    found, body = _writable(request), request.read(_Commit)
    tree = _object(found, body.tree)
    if not isinstance(tree, pygit2.Tree):
        raise Refusal(422, "Tree SHA does not exist")
    if any(found.find_commit(each) is None for each in body.parents):
        raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    author = body.author or request.token.owner
    sha = found.write_commit(tree.id, body.parents, body.message, author, body.committer)
    return Answer(_git_commit(_commit_of(found, sha)), 201)


def create_ref(request: Request) -> Answer:
    found, body = _writable(request), request.read(_Ref)
    branch = body.ref.removeprefix("refs/heads/")
    if branch == body.ref or branch_is_bad(branch):
        raise Refusal(422, f"{body.ref} is not a valid ref name.")
    if found.tip(branch) is not None:
        raise Refusal(422, "Reference already exists")
    if found.find_commit(body.sha) is None:
        raise Refusal(422, "Object does not exist")
    others = list(found.git.branches.local)
    if any(each.startswith(f"{branch}/") or branch.startswith(f"{each}/") for each in others):
        raise Refusal(422, "Reference update failed")
    _check_protected(found, branch)
    found.set_branch(branch, body.sha)
    return Answer({"ref": body.ref, "object": {"sha": body.sha, "type": "commit"}}, 201)


def update_ref(request: Request) -> Answer:
    found, body, branch = _writable(request), request.read(_Ref), request.path["branch"]
    tip = found.tip(branch)
    if tip is None:
        raise Refusal(422, "Reference does not exist")
    if found.find_commit(body.sha) is None:
        raise Refusal(422, "Object does not exist")
    _check_protected(found, branch)
    if not body.force and not found.is_ancestor(tip, body.sha):
        raise Refusal(422, "Update is not a fast forward")
    found.set_branch(branch, body.sha)
    return Answer({"ref": f"refs/heads/{branch}", "object": {"sha": body.sha, "type": "commit"}})


def create_pull(request: Request) -> Answer:
    found, body = _find(request), request.read(_Pull)
    request.host.check_writable(request.token, found)
    head, base = found.tip(body.head), found.tip(body.base)
    if head is None or base is None:
        raise Refusal(422, "Validation Failed", errors=[{"field": "head", "code": "invalid"}])
    if found.is_ancestor(head, base):
        words = f"No commits between {body.base} and {body.head}"
        raise Refusal(422, "Validation Failed", errors=[{"message": words}])
    if any(each["head"] == body.head and each["base"] == body.base for each in _pulls(found)):
        words = f"A pull request already exists for {found.owner}:{body.head}."
        raise Refusal(422, "Validation Failed", errors=[{"message": words}])
    number = len(found.settings.pulls) + 1
    pull = {"number": number, "head": body.head, "base": body.base, "title": body.title}
    found.settings.pulls.append({**pull, "body": body.body or "", "state": "open"})
    found.save()
    return Answer(_pull(request, found, found.settings.pulls[-1]), 201)


def list_pulls(request: Request) -> Answer:
    found, query = _find(request), request.query
    wanted = query.get("head", "").rpartition(":")[2]
    rows = [
        _pull(request, found, each)
        for each in _pulls(found)
        if wanted in ("", each["head"]) and query.get("base", each["base"]) == each["base"]
    ]
    return page_of(request, rows)


def _pulls(found: Repository) -> list[dict[str, Any]]:
    return [each for each in found.settings.pulls if each["state"] == "open"]


def _pull(request: Request, found: Repository, pull: dict[str, Any]) -> dict[str, Any]:
    return {
        **pull,
        "html_url": f"{request.origin}/github/{found.path}/pull/{pull['number']}",
        "head": {"ref": pull["head"]},
        "base": {"ref": pull["base"]},
    }


def _writable(request: Request) -> Repository:
    found = _find(request)
    request.host.check_writable(request.token, found)
    if found.is_empty:
        raise Refusal(409, _EMPTY)
    return found


def _check_protected(found: Repository, branch: str) -> None:
    if branch in found.settings.protected:
        words = "Protected branch update failed for refs/heads/"
        raise Refusal(422, f"{words}{branch}. Changes must be made through a pull request.")


def _commit_of(found: Repository, name: str) -> pygit2.Commit:
    commit = found.find_commit(name)
    if commit is None:
        raise Refusal(404, "Not Found")
    return commit


def _object(found: Repository, sha: str) -> pygit2.Object | None:
    try:
        return found.git.get(sha)
    except ValueError:
        return None
