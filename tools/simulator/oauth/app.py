"""Finds what a request is for, and answers it, with the fault that is due."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from simulator.connection import BodyTooLarge, Connection
from simulator.drive import api as drive
from simulator.drive import control as drive_control
from simulator.drive.errors import as_drive
from simulator.oauth import authorize, control, issue, revoke
from simulator.oauth.errors import as_github_api, as_oauth, as_page
from simulator.oauth.exchange import Answer, Request, State, html_answer, json_answer
from simulator.oauth.faults import Asked, Endpoint, Fault
from simulator.oauth.tokens import HostName
from simulator.provider import Problem, Refused

_UNTIL_READ = 0.05  # seconds; a reset discards data that the peer has not read yet

Refuse = Callable[[Problem, Request], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """A path with `{placeholders}`; `refuse` writes an error as the server does."""

    method: str
    path: str
    host: HostName
    endpoint: Endpoint
    carry_out: Callable[[Request], Answer]
    refuse: Refuse = as_oauth


_GITHUB = "/github/login/oauth"
_GITHUB_GRANT = "/github/api/v3/applications/{client_id}/grant"
_GOOGLE = "/google-accounts"
_CONSENT = "/google-accounts/o/oauth2/v2/auth"
_ABOUT = "/google-drive/drive/v3/about"
_DRIVE = "/google-drive/drive/v3/files"
_ROUTES = (
    Route("GET", f"{_GITHUB}/authorize", "github", "authorize", authorize.show, as_page),
    Route("POST", f"{_GITHUB}/authorize", "github", "authorize", authorize.decide, as_page),
    Route("POST", f"{_GITHUB}/access_token", "github", "token", issue.respond),
    Route("DELETE", _GITHUB_GRANT, "github", "revoke", revoke.github, as_github_api),
    Route("GET", "/gitlab/oauth/authorize", "gitlab", "authorize", authorize.show, as_page),
    Route("POST", "/gitlab/oauth/authorize", "gitlab", "authorize", authorize.decide, as_page),
    Route("POST", "/gitlab/oauth/token", "gitlab", "token", issue.respond),
    Route("POST", "/gitlab/oauth/revoke", "gitlab", "revoke", revoke.gitlab),
    Route("GET", _CONSENT, "google", "authorize", authorize.show, as_page),
    Route("POST", _CONSENT, "google", "authorize", authorize.decide, as_page),
    Route("POST", f"{_GOOGLE}/token", "google", "token", issue.respond),
    Route("POST", f"{_GOOGLE}/revoke", "google", "revoke", revoke.google),
    Route("GET", _ABOUT, "google", "about", drive.get_about, as_drive),
    Route("GET", _DRIVE, "google", "files", drive.list_files, as_drive),
    Route("GET", f"{_DRIVE}/{{id}}", "google", "file", drive.get_file, as_drive),
    Route("GET", f"{_DRIVE}/{{id}}/export", "google", "export", drive.export, as_drive),
)
_CONTROL: dict[tuple[str, str], Callable[[State, bytes], Answer]] = {
    ("POST", "/_oauth/expire"): control.expire,
    ("POST", "/_oauth/revoke"): control.revoke,
    ("POST", "/_oauth/faults"): control.add_faults,
    ("DELETE", "/_oauth/faults"): control.clear_faults,
    ("GET", "/_oauth/requests"): control.requests,
    ("DELETE", "/_oauth/requests"): control.forget_requests,
    ("POST", "/_drive/files"): drive_control.add_file,
}
_PREFIXES = (
    *("/_oauth/", "/_drive/", "/github/login/", "/gitlab/oauth/"),
    *(f"{_GOOGLE}/", "/google-drive/"),
)


def serves(path: str) -> bool:
    """Is a request to this path answered here?"""
    return path.startswith(_PREFIXES) or _pattern(_GITHUB_GRANT).fullmatch(path) is not None


async def respond(state: State, connection: Connection, method: str, path: str) -> None:
    """Answer a request. Raises CallerGone."""
    try:
        body = await connection.body()
        answer = await _answer(state, connection, method, path, body)
    except BodyTooLarge:
        answer = _refused(Problem(413))
    # An answer without a content has no length either (RFC 9110, 8.6).
    sized = {} if answer.status == 204 else {"content-length": str(len(answer.body))}
    await connection.start(answer.status, {**answer.headers, **sized})
    await connection.end(answer.body)


async def _answer(
    state: State, connection: Connection, method: str, path: str, body: bytes
) -> Answer:
    if (act := _CONTROL.get((method, path))) is not None:
        try:
            return act(state, body)
        except Refused as refusal:
            return _refused(refusal.problem)
    for route in _ROUTES:
        found = _pattern(route.path).fullmatch(path)
        if found is not None and route.method == method:
            names, query, headers = found.groupdict(), connection.query, connection.headers
            request = Request(route.host, names, query, headers, body, state)
            return await _recorded(route, request, connection)
    return _refused(Problem(404, f"Unknown path {path}", "not_found"))


async def _recorded(route: Route, request: Request, connection: Connection) -> Answer:
    """The answer of a route, or that of its fault."""
    asked = _asked(route, request)
    fault = request.state.faults.record(asked)
    if fault is None:
        answer = _carried_out(route, request)
    else:
        answer = await _failed(fault, route, request, connection)
    asked.status = answer.status
    return answer


def _asked(route: Route, request: Request) -> Asked:
    endpoint, grant_type = route.endpoint, None
    if endpoint == "token":
        grant_type = request.form.get("grant_type")
        if grant_type == "refresh_token":
            endpoint = "refresh"
    if endpoint == "file" and request.query.get("alt") == "media":
        endpoint = "media"
    return Asked(route.host, endpoint, route.method, grant_type)


def _carried_out(route: Route, request: Request) -> Answer:
    try:
        return route.carry_out(request)
    except Refused as refusal:
        return route.refuse(refusal.problem, request)


async def _failed(fault: Fault, route: Route, request: Request, connection: Connection) -> Answer:
    """Carry a request out if the fault is not before that, and let the fault happen. Raises
    CallerGone."""
    carried_out = _carried_out(route, request) if fault.when == "after" else None
    await connection.pause(fault.delay_ms / 1000)
    if fault.hang:
        await connection.hang()
    if fault.drop:
        await connection.pause(_UNTIL_READ)
        await connection.reset()
    if fault.status is not None or fault.html is not None or fault.body is not None:
        return _written(fault, route, request)
    return carried_out or _carried_out(route, request)


def _written(fault: Fault, route: Route, request: Request) -> Answer:
    status = fault.status or 200
    if fault.html is not None:
        answer = html_answer(fault.html, status)
    elif fault.body is not None:
        answer = json_answer(fault.body, status)
    else:
        answer = route.refuse(Problem(status, code=fault.code), request)
    retry = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    return Answer(answer.status, answer.body, {**answer.headers, **retry, **fault.headers})


def _refused(problem: Problem) -> Answer:
    """An error of no server."""
    payload = {"error": problem.code or "invalid_request", "error_description": problem.message}
    return json_answer(payload, problem.status)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))
