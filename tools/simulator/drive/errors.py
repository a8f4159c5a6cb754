"""Errors in the form of Google's older interfaces: a status, and a reason for programs."""

from simulator.oauth.exchange import Answer, Request, json_answer
from simulator.provider import Json, Problem

_REASONS = {
    400: "badRequest",
    401: "authError",
    403: "insufficientPermissions",
    404: "notFound",
    429: "rateLimitExceeded",
    500: "internalError",
    503: "backendError",
}
_LIMITS = frozenset({"userRateLimitExceeded", "rateLimitExceeded", "dailyLimitExceeded"})


def as_drive(problem: Problem, request: Request) -> Answer:
    """`error.code` is the status, `error.errors[0].reason` the problem's code."""
    reason = problem.code or _REASONS.get(problem.status, "backendError")
    message = problem.message or f"The request has failed: {reason}."
    domain = "usageLimits" if reason in _LIMITS else "global"
    detail: Json = {"message": message, "domain": domain, "reason": reason}
    headers = {}
    if problem.status == 401:
        detail |= {"location": "Authorization", "locationType": "header"}
        headers["www-authenticate"] = (
            'Bearer realm="https://accounts.google.com/", error="invalid_token"'
        )
    if problem.param is not None:
        detail |= {"location": problem.param, "locationType": "parameter"}
    error = {"code": problem.status, "message": message, "errors": [detail]}
    return json_answer({"error": error}, problem.status, headers)
