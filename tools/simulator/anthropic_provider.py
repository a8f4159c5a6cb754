"""Anthropic's key, headers and errors."""

from simulator.connection import Connection
from simulator.provider import WRONG_KEY, Json, Problem, Refused, require_bearer

_VERSIONS = ("2023-06-01", "2026-10-21")

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
    """The key comes in `x-api-key` or, from the newer clients, as a Bearer token."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        key = connection.headers.get("x-api-key", "").strip()
        if not key:
            require_bearer(connection)
        if key == WRONG_KEY:
            raise Refused(Problem(401))
        if connection.headers.get("anthropic-version") not in _VERSIONS:
            raise Refused(Problem(400, f"anthropic-version: must be one of {_VERSIONS}"))

    def error(self, problem: Problem, request_id: str) -> Json:
        """A code that is not a type of error is the reason in the details of the error."""
        kind, message = _USUAL.get(problem.status, _USUAL[_FALLBACK[problem.status // 100]])
        fields: Json = {"type": kind, "message": problem.message or message}
        if problem.code is not None and problem.code.endswith("_error"):
            fields["type"] = problem.code
        elif problem.code is not None:
            fields["details"] = {"error_code": problem.code}
        return {"type": "error", "error": fields, "request_id": request_id}

    def headers(self, request_id: str) -> dict[str, str]:
        return {"request-id": request_id}
