"""`/_githost`: makes repositories, commits of somebody else, tokens and faults."""

from typing import Any

import msgspec

from simulator.githost.exchange import Answer, Refusal
from simulator.githost.faults import Fault
from simulator.githost.hosts import Hosts
from simulator.githost.repositories import FileContent, Repositories, Repository, Settings
from simulator.githost.tokens import HostName, Token


class NewRepository(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """`files` are those of the first commit; without one the repository is empty."""

    host: HostName
    path: str
    files: dict[str, FileContent] = {}
    default_branch: str = "main"
    private: bool = True
    archived: bool = False
    protected: list[str] = []
    members: dict[str, str] = {}
    replace: bool = False


class NewCommit(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A commit of somebody else; a file without content is deleted. With `parent` the branch is
    moved there first."""

    host: HostName
    path: str
    branch: str = "main"
    files: dict[str, FileContent | None]
    message: str = "Change by somebody else"
    parent: str | None = None


class RepositoryChanges(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """`moved_to` is another path; `renamed_branches` are other names of branches, by the names of
    now."""

    host: HostName
    path: str
    archived: bool | None = None
    protected: list[str] | None = None
    members: dict[str, str] | None = None
    moved_to: str | None = None
    renamed_branches: dict[str, str] = {}
    deleted: bool = False


class _Revoked(msgspec.Struct, forbid_unknown_fields=True):
    token: str


def respond(hosts: Hosts, method: str, path: str, body: bytes, origin: str) -> Answer:
    """The answer to a request. Raises Refusal."""
    match method, path:
        case "POST", "repositories":
            return _create(hosts, _read(body, NewRepository), origin)
        case "PATCH", "repositories":
            return _change(hosts, _read(body, RepositoryChanges))
        case "POST", "commits":
            return commit_as_somebody(hosts, _read(body, NewCommit))
        case "POST", "tokens":
            hosts.tokens.add(_read(body, Token))
            return Answer({}, 201)
        case "DELETE", "tokens":
            hosts.tokens.revoke(_read(body, _Revoked).token)
            return Answer({})
        case "POST", "faults":
            hosts.faults.add(_read(body, list[Fault]))
            return Answer({}, 201)
        case "DELETE", "faults":
            hosts.faults.clear()
            return Answer({})
        case "GET", "requests":
            return Answer(hosts.faults.shown())
        case "DELETE", "requests":
            hosts.faults.log.clear()
            return Answer({})
    raise Refusal(404, f"Unknown path /_githost/{path}")


def commit_as_somebody(hosts: Hosts, body: NewCommit) -> Answer:
    """Commit, and move the branch. Raises Refusal."""
    found = _find(hosts, body.host, body.path)
    with found.lock:
        if body.parent is not None:
            found.set_branch(body.branch, body.parent)
        return Answer({"commit": found.commit_files(body.branch, body.files, body.message)}, 201)


def commit_from(hosts: Hosts, fields: dict[str, Any]) -> None:
    """The commit of a fault."""
    commit_as_somebody(hosts, msgspec.convert(fields, NewCommit))


def _create(hosts: Hosts, body: NewRepository, origin: str) -> Answer:
    repositories = hosts.by_name[body.host].repositories
    known = repositories.find(body.path)
    if body.replace and known is not None and known.has_path(body.path):
        repositories.delete(known)
    _check_free(repositories, body.path)
    found = repositories.create(
        Settings(
            path=body.path,
            default_branch=body.default_branch,
            is_private=body.private,
            members=body.members,
        )
    )
    commit = None
    if body.files:
        commit = found.commit_files(body.default_branch, body.files, "First commit")
    found.settings.is_archived, found.settings.protected = body.archived, body.protected
    found.save()
    clone = f"{origin}/{body.host}/{body.path}.git"
    return Answer({"clone_url": clone, "commit": commit, "folder": str(found.folder)}, 201)


def _change(hosts: Hosts, body: RepositoryChanges) -> Answer:
    repositories, found = hosts.by_name[body.host].repositories, _find(hosts, body.host, body.path)
    if body.deleted:
        repositories.delete(found)
        return Answer({})
    settings = found.settings
    if body.archived is not None:
        settings.is_archived = body.archived
    if body.protected is not None:
        settings.protected = body.protected
    if body.members is not None:
        settings.members = body.members
    for old, new in body.renamed_branches.items():
        found.rename_branch(old, new)
    if body.moved_to is not None:
        _check_free(repositories, body.moved_to)
        repositories.rename(found, body.moved_to)
    found.save()
    return Answer({})


def _check_free(repositories: Repositories, path: str) -> None:
    known = repositories.find(path)
    if known is not None and known.has_path(path):
        raise Refusal(409, "There is a repository of this path.")


def _find(hosts: Hosts, host: str, path: str) -> Repository:
    found = hosts.by_name[host].repositories.find(path)
    if found is None:
        raise Refusal(404, "There is no such repository.")
    return found


def _read(body: bytes, form: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refusal(400, str(error)) from error
