"""Finds the operation of a request to a host, and answers, with the faults that are due."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from simulator.connection import Connection
from simulator.githost import control, github, gitlab, smart_http
from simulator.githost.exchange import Answer, Refusal, Request
from simulator.githost.faults import Asked, Fault
from simulator.githost.hosts import Host, Hosts
from simulator.githost.moves import check_moved, with_name
from simulator.githost.repositories import Repository
from simulator.githost.tokens import Token

Operation = Callable[[Request], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """A path with `{placeholders}`, of one segment each or, with `...`, of several."""

    method: str
    path: str
    operation: Operation


_OF_GITHUB = "/repos/{owner}/{repo}"
_OF_GITLAB = "/projects/{project}"
_ROUTES = {
    "/github/api/v3": [
        Route("GET", "/user", github.get_user),
        Route("GET", "/user/repos", github.list_repositories),
        Route("GET", _OF_GITHUB, github.get_repository),
        Route("GET", f"{_OF_GITHUB}/branches/{{branch...}}", github.get_branch),
        Route("GET", f"{_OF_GITHUB}/commits", github.list_commits),
        Route("GET", f"{_OF_GITHUB}/git/commits/{{sha}}", github.get_commit),
        Route("GET", f"{_OF_GITHUB}/git/trees/{{sha...}}", github.get_tree),
        Route("GET", f"{_OF_GITHUB}/git/blobs/{{sha}}", github.get_blob),
        Route("POST", f"{_OF_GITHUB}/git/blobs", github.create_blob),
        Route("POST", f"{_OF_GITHUB}/git/trees", github.create_tree),
        Route("POST", f"{_OF_GITHUB}/git/commits", github.create_commit),
        Route("POST", f"{_OF_GITHUB}/git/refs", github.create_ref),
        Route("PATCH", f"{_OF_GITHUB}/git/refs/heads/{{branch...}}", github.update_ref),
        Route("GET", f"{_OF_GITHUB}/pulls", github.list_pulls),
        Route("POST", f"{_OF_GITHUB}/pulls", github.create_pull),
    ],
    "/gitlab/api/v4": [
        Route("GET", "/user", gitlab.get_user),
        Route("GET", "/personal_access_tokens/self", gitlab.get_token),
        Route("GET", "/projects", gitlab.list_repositories),
        Route("GET", _OF_GITLAB, gitlab.get_repository),
        Route("GET", f"{_OF_GITLAB}/repository/branches/{{branch}}", gitlab.get_branch),
        Route("GET", f"{_OF_GITLAB}/repository/tree", gitlab.get_tree),
        Route("GET", f"{_OF_GITLAB}/repository/blobs/{{sha}}/raw", gitlab.get_blob),
        Route("GET", f"{_OF_GITLAB}/repository/files/{{file}}", gitlab.get_file),
        Route("GET", f"{_OF_GITLAB}/repository/commits", gitlab.list_commits),
        Route("POST", f"{_OF_GITLAB}/repository/commits", gitlab.create_commit),
        Route("GET", f"{_OF_GITLAB}/merge_requests", gitlab.list_pulls),
        Route("POST", f"{_OF_GITLAB}/merge_requests", gitlab.create_pull),
    ],
}
_GIT = re.compile(r"/(github|gitlab)/(.+?)\.git/(info/refs|git-upload-pack|git-receive-pack)")
_CONTROL = "/_githost/"


def is_for_hosts(path: str) -> bool:
    return path.startswith((*_ROUTES, _CONTROL)) or _GIT.fullmatch(path) is not None


async def respond(hosts: Hosts, connection: Connection, method: str, path: str) -> None:
    """Answer a request to `path`, still percent-encoded. Raises CallerGone, BodyTooLarge."""
    body = await connection.body()
    try:
        answer = await _answer(hosts, connection, method, path, body)
    except Refusal as refusal:
        answer = _refused(refusal)
    headers = {"content-type": answer.content_type, **answer.headers}
    await connection.send_body(answer.status, answer.body, headers)


async def _answer(
    hosts: Hosts, connection: Connection, method: str, path: str, body: bytes
) -> Answer:
    if path.startswith(_CONTROL):
        name = path.removeprefix(_CONTROL)
        return await asyncio.to_thread(
            control.respond, hosts, method, name, body, connection.origin
        )
    if found := _GIT.fullmatch(path):
        host, name, rest = hosts.by_name[found[1]], unquote(found[2]), found[3]
        query, headers = connection.query, connection.headers
        return await smart_http.answer(hosts, host, name, rest, query, headers, body)
    return await _answer_of_api(hosts, connection, method, path, body)


async def _answer_of_api(
    hosts: Hosts, connection: Connection, method: str, path: str, body: bytes
) -> Answer:
    base = next(each for each in _ROUTES if path.startswith(each))
    host = hosts.by_name[base.split("/")[1]]
    address = with_name(host, path.removeprefix(base))
    route, names = _find(base, method, address)
    token = _token(hosts, host, connection)
    name = route.operation.__name__
    asked = Asked(host.name, name, method, path, token.login if token is not None else "")
    hosts.faults.log.append(asked)
    repository = _repository(host, names)
    faults = hosts.faults.take(asked, repository.paths if repository is not None else ())
    try:
        await _fail(hosts, connection, [each for each in faults if each.when == "before"])
        if token is None:
            raise _unauthorized(host)
        request = Request(
            host, name, method, names, connection.query, connection.headers, body,
            connection.origin, token,
        )  # fmt: skip
        if repository is not None:
            check_moved(request, repository, address)
        answer = await asyncio.to_thread(_carried_out, route.operation, request, repository)
        await _fail(hosts, connection, [each for each in faults if each.when == "after"])
    except Refusal as refusal:
        answer = _refused(refusal)
    asked.status = answer.status
    answer.headers |= _usual_headers(host, token)
    if any(each.truncate for each in faults):
        answer.content = answer.body[: len(answer.body) // 2]
    return answer


def _repository(host: Host, names: dict[str, str]) -> Repository | None:
    """The one that a request is about, also under a name of before."""
    name = names.get("project") or "/".join(
        names[each] for each in ("owner", "repo") if each in names
    )
    return host.repositories.find(name) if name else None


def _carried_out(operation: Operation, request: Request, repository: Repository | None) -> Answer:
    """The answer of an operation, also where that is a refusal."""
    try:
        with repository.lock if repository is not None else nullcontext():
            return operation(request)
    except Refusal as refusal:
        return _refused(refusal)


async def _fail(hosts: Hosts, connection: Connection, faults: list[Fault]) -> None:
    """Let faults happen that are due now. Raises Refusal, CallerGone."""
    for fault in faults:
        await connection.pause(fault.delay_ms / 1000)
        if fault.commit is not None:
            await asyncio.to_thread(control.commit_from, hosts, fault.commit)
        if fault.drop:
            await connection.reset()
        if fault.hang:
            await connection.hang()
        if fault.rate_limited is not None:
            headers = {"retry-after": str(fault.rate_limited), "x-ratelimit-remaining": "0"}
            raise Refusal(429, "API rate limit exceeded", headers=headers)
        if fault.html:
            raise Refusal(fault.status or 200, "<html>A page of a proxy</html>", html=True)
        if fault.status is not None:
            raise Refusal(fault.status, fault.message, headers=fault.headers)


def _refused(refusal: Refusal) -> Answer:
    details = dict(refusal.details)
    headers: dict[str, str] = details.pop("headers", {})
    if details.pop("html", False):
        page = refusal.message.encode()
        return Answer(status=refusal.status, content=page, content_type="text/html")
    if realm := details.pop("realm", None):
        headers["www-authenticate"] = f'Basic realm="{realm}"'
    payload = {"message": refusal.message, **details}
    return Answer(payload, refusal.status, headers=headers)


def _find(base: str, method: str, path: str) -> tuple[Route, dict[str, str]]:
    for route in _ROUTES[base]:
        found = _pattern(route.path).fullmatch(path)
        if found is not None and route.method == method:
            return route, {name: unquote(value) for name, value in found.groupdict().items()}
    raise Refusal(404, "Not Found")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    several = re.sub(r"{(\w+)\.\.\.}", r"(?P<\1>.+)", path)
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", several))


def _token(hosts: Hosts, host: Host, connection: Connection) -> Token | None:
    scheme, _, text = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("bearer", "token"):
        text = connection.headers.get("private-token", "")
    return hosts.find_token(host, text.strip())


def _unauthorized(host: Host) -> Refusal:
    if host.name == "github":
        return Refusal(401, "Bad credentials")
    return Refusal(401, "401 Unauthorized", error="invalid_token")


def _usual_headers(host: Host, token: Token | None) -> dict[str, Any]:
    if host.name == "gitlab":
        return {"ratelimit-remaining": "1000"}
    headers = {"x-ratelimit-remaining": "4999", "x-ratelimit-reset": str(int(time.time()) + 3600)}
    if token is not None and token.kind in ("classic", "oauth"):
        headers["x-oauth-scopes"] = ", ".join(token.scopes)
    if token is not None and token.expires_at is not None:
        moment = f"{token.expires_at:%Y-%m-%d %H:%M:%S %z}"
        headers["github-authentication-token-expiration"] = moment
    return headers
