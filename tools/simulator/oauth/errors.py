"""The forms of the servers' errors."""

from urllib.parse import urlencode

from simulator import identity_page
from simulator.oauth.exchange import Answer, Request, html_answer, json_answer
from simulator.oauth.page import message
from simulator.provider import Problem

NOT_STORED = {"cache-control": "no-store", "pragma": "no-cache"}


def as_oauth(problem: Problem, request: Request) -> Answer:
    """The form of RFC 6749, 5.2. GitHub's is written as its client asks for it."""
    payload: dict[str, str | int] = {
        "error": problem.code or "invalid_request",
        "error_description": problem.message or f"HTTP status {problem.status}",
    }
    if request.host == "github":
        return negotiated(request, payload, problem.status)
    headers = dict(NOT_STORED)
    if problem.status == 401:
        headers["www-authenticate"] = 'Basic realm="simulator"'
    return json_answer(payload, problem.status, headers)


def as_github_api(problem: Problem, request: Request) -> Answer:
    """The form of GitHub's REST interface."""
    payload = {
        "message": problem.message or f"HTTP status {problem.status}",
        "documentation_url": "https://docs.github.com/rest",
        "status": str(problem.status),
    }
    return json_answer(payload, problem.status)


def as_page(problem: Problem, request: Request) -> Answer:
    """A page for the person, who cannot be sent back (RFC 6749, 4.1.2.1)."""
    text = f"{problem.code or 'invalid_request'}: {problem.message or problem.status}"
    return html_answer(identity_page.page(message(text)), problem.status)


def negotiated(request: Request, payload: dict[str, str | int], status: int = 200) -> Answer:
    """GitHub's answers: JSON for a client that accepts it, otherwise a form."""
    if "application/json" in request.headers.get("accept", ""):
        return json_answer(payload, status, NOT_STORED)
    headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8", **NOT_STORED}
    return Answer(status, urlencode(payload).encode(), headers)
