"""The used parts of GitLab's REST interface (docs.gitlab.com/api/rest)."""

import base64
from typing import Any, Literal

import msgspec
import pygit2

from simulator.githost.exchange import Answer, Refusal, Request, page_of
from simulator.githost.gitlab_commits import write_commit
from simulator.githost.repositories import Entry, Repository

_LEVELS = {"read": 20, "write": 30, "admin": 50}


# --- Users and projects ---------------------------------------------------------------------------


def get_user(request: Request) -> Answer:
    return Answer({"id": 1, "username": request.token.login, "state": "active"})


def get_token(request: Request) -> Answer:
    """What the token is; the token of an application is none of these."""
    token = request.token
    if token.kind == "oauth":
        raise Refusal(404, "404 Not Found")
    expires = token.expires_at.date().isoformat() if token.expires_at is not None else None
    return Answer(
        {"id": 1, "active": True, "revoked": False, "scopes": token.scopes, "expires_at": expires}
    )


def list_repositories(request: Request) -> Answer:
    host, token = request.host, request.token
    wanted = request.query.get("search", "").lower()
    found = [
        _project(request, each)
        for each in host.repositories.all()
        if host.reaches(token, each)
        and (each.owner == token.login or token.login in each.settings.members)
        and wanted in each.path.lower()
    ]
    return page_of(request, found)


def get_repository(request: Request) -> Answer:
    return Answer(_project(request, _find(request)))


def _find(request: Request) -> Repository:
    return request.host.find(request.token, request.path["project"])


def _project(request: Request, found: Repository) -> dict[str, Any]:
    role = found.role(request.token.login)
    access = {"access_level": _LEVELS[role]} if role is not None else None
    return {
        "id": found.id,
        "path_with_namespace": found.path,
        "default_branch": None if found.is_empty else found.settings.default_branch,
        "archived": found.settings.is_archived,
        "visibility": "private" if found.settings.is_private else "public",
        "empty_repo": found.is_empty,
        "web_url": f"{request.origin}/gitlab/{found.path}",
        "http_url_to_repo": f"{request.origin}/gitlab/{found.path}.git",
        "permissions": {"project_access": access, "group_access": None},
    }


# --- Reading --------------------------------------------------------------------------------------


def get_branch(request: Request) -> Answer:
    found, name = _find(request), request.path["branch"]
    sha = found.tip(name)
    if sha is None:
        raise Refusal(404, "404 Branch Not Found")
    is_protected = name in found.settings.protected
    can_push = request.host.may_push(request.token, found) and not is_protected
    return Answer(
        {"name": name, "commit": {"id": sha}, "protected": is_protected, "can_push": can_push}
    )


def get_tree(request: Request) -> Answer:
    found = _find(request)
    commit = found.find_commit(request.query.get("ref") or found.settings.default_branch)
    if commit is None:
        raise Refusal(404, "404 Tree Not Found")
    entries = found.entries(commit.tree)
    if request.query.get("recursive") != "true":
        entries = [each for each in entries if "/" not in each.path]
    answer = page_of(request, entries)
    answer.payload = [_tree_row(each) for each in answer.payload]
    return answer


def _tree_row(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.sha,
        "name": entry.path.rpartition("/")[2],
        "type": entry.kind,
        "path": entry.path,
        "mode": entry.mode,
    }


def get_blob(request: Request) -> Answer:
    data = _find(request).get_blob(request.path["sha"])
    if data is None:
        raise Refusal(404, "404 Blob Not Found")
    return Answer(content=data, content_type="application/octet-stream")


def get_file(request: Request) -> Answer:
    """A file with its content, and the commit that changed it last."""
    found, path = _find(request), request.path["file"]
    commit = found.find_commit(request.query.get("ref") or found.settings.default_branch)
    if commit is None or path not in commit.tree:
        raise Refusal(404, "404 File Not Found")
    item = commit.tree[path]
    data = found.get_blob(str(item.id)) or b""
    return Answer(
        {
            "file_path": path,
            "size": len(data),
            "encoding": "base64",
            "content": base64.b64encode(data).decode(),
            "blob_id": str(item.id),
            "last_commit_id": found.last_change(str(commit.id), path),
            "execute_filemode": item.filemode == 0o100755,
        }
    )


def list_commits(request: Request) -> Answer:
    found = _find(request)
    start = found.find_commit(request.query.get("ref_name") or found.settings.default_branch)
    if start is None:
        raise Refusal(404, "404 Reference Not Found")
    return Answer([_commit(each) for each in found.log(str(start.id), request.page[1])])


def _commit(commit: pygit2.Commit) -> dict[str, Any]:
    return {
        "id": str(commit.id),
        "message": commit.message,
        "title": commit.message.partition("\n")[0],
        "author_name": commit.author.name,
        "author_email": commit.author.email,
        "parent_ids": [str(each) for each in commit.parent_ids],
    }


# --- Writing --------------------------------------------------------------------------------------


class _MergeRequest(msgspec.Struct):
    title: str
    source_branch: str
    target_branch: str
    description: str = ""


def create_commit(request: Request) -> Answer:
    """All actions as one commit, or none of them."""
    found = _find(request)
    request.host.check_writable(request.token, found)
    sha = write_commit(request, found)
    commit = found.find_commit(sha)
    assert commit is not None  # noqa: S101 - just written
    return Answer(_commit(commit), 201)


def create_pull(request: Request) -> Answer:
    found, body = _find(request), request.read(_MergeRequest)
    request.host.check_writable(request.token, found)
    for pull in _open_pulls(found):
        if (pull["head"], pull["base"]) == (body.source_branch, body.target_branch):
            words = "Another open merge request already exists for this source branch"
            raise Refusal(409, f"{words}: !{pull['number']}")
    if found.tip(body.source_branch) is None or found.tip(body.target_branch) is None:
        raise Refusal(400, "source_branch or target_branch does not exist")
    number = len(found.settings.pulls) + 1
    pull = {"number": number, "head": body.source_branch, "base": body.target_branch}
    found.settings.pulls.append(
        {**pull, "title": body.title, "body": body.description, "state": "open"}
    )
    found.save()
    return Answer(_pull(request, found, found.settings.pulls[-1]), 201)


def list_pulls(request: Request) -> Answer:
    found, query = _find(request), request.query
    rows = [
        _pull(request, found, each)
        for each in _open_pulls(found)
        if query.get("source_branch", each["head"]) == each["head"]
        and query.get("target_branch", each["base"]) == each["base"]
    ]
    return page_of(request, rows)


def _open_pulls(found: Repository) -> list[dict[str, Any]]:
    return [each for each in found.settings.pulls if each["state"] == "open"]


def _pull(request: Request, found: Repository, pull: dict[str, Any]) -> dict[str, Any]:
    state: Literal["opened"] = "opened"
    return {
        "iid": pull["number"],
        "title": pull["title"],
        "description": pull["body"],
        "state": state,
        "source_branch": pull["head"],
        "target_branch": pull["base"],
        "web_url": f"{request.origin}/gitlab/{found.path}/-/merge_requests/{pull['number']}",
    }
