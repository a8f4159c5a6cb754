"""Anthropic's key, headers and errors."""

from simulator.connection import Connection
from simulator.provider import WRONG_KEY, Json
from simulator.refusals import Problem, Refused

VERSION = "2023-06-01"

_USUAL = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "The credit balance is too low."),
    403: ("permission_error", "The key may not use this resource."),
    404: ("not_found_error", "There is no such resource."),
    409: ("conflict_error", "The resource was changed meanwhile."),
    413: ("request_too_large", "The request is too large."),
    429: ("rate_limit_error", "The rate limit of the organisation is exceeded."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "The request timed out."),
    529: ("overloaded_error", "Overloaded"),
}
_FALLBACK = {4: 400, 5: 500}


class Anthropic:
    """`x-api-key` and `anthropic-version` are required."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        key = connection.headers.get("x-api-key", "").strip()
        if not key:
            raise Refused(Problem(401, "x-api-key header is required"))
        if key == WRONG_KEY:
            raise Refused(Problem(401))
        if connection.headers.get("anthropic-version") != VERSION:
            raise Refused(Problem(400, f"anthropic-version: header must be {VERSION}"))

    def error(self, problem: Problem, request_id: str) -> Json:
        kind, message = _USUAL.get(problem.status, _USUAL[_FALLBACK[problem.status // 100]])
        fields = {"type": problem.code or kind, "message": problem.message or message}
        return {"type": "error", "error": fields, "request_id": request_id}

    def headers(self, request_id: str) -> dict[str, str]:
        return {"request-id": request_id}
