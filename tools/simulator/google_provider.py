"""Google's key and errors on the Gemini API."""

from simulator.connection import Connection
from simulator.provider import WRONG_KEY, Json, Problem, Refused

_USUAL = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "The request has no valid credentials."),
    402: ("FAILED_PRECONDITION", "Payment is required."),
    403: ("PERMISSION_DENIED", "The caller does not have permission."),
    404: ("NOT_FOUND", "The model is not found."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded."),
    504: ("DEADLINE_EXCEEDED", "The deadline expired before the answer was complete."),
}
_FALLBACK = {4: 400, 5: 500}
_TYPES = "type.googleapis.com/google.rpc."
_FROM_URLS = str.maketrans("-_", "+/")
_PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"


def standard_base64(text: str) -> str:
    """Bytes in the standard alphabet: in Google's JSON they may be in the one for URLs, too."""
    return text.translate(_FROM_URLS)


class Google:
    """The key comes in `x-goog-api-key` or as `?key=`; a wrong one is a 400."""

    retry_after_header = False

    def require_key(self, connection: Connection) -> None:
        key = connection.headers.get("x-goog-api-key") or connection.query.get("key", "")
        if not key.strip():
            raise Refused(Problem(403, "The method does not allow unregistered callers."))
        if key == WRONG_KEY:
            raise Refused(Problem(400, "API key not valid.", "API_KEY_INVALID"))

    def error(self, problem: Problem, request_id: str) -> Json:
        status, message = _USUAL.get(problem.status, _USUAL[_FALLBACK[problem.status // 100]])
        fields: Json = {
            "code": problem.status,
            "message": problem.message or message,
            "status": status,
        }
        details = _details(problem)
        return {"error": fields | ({"details": details} if details else {})}

    def headers(self, request_id: str) -> dict[str, str]:
        return {}


def _details(problem: Problem) -> list[Json]:
    """The quota's name and the time to wait for a 429; the reason of any other error."""
    details: list[Json] = []
    if problem.status == 429:
        violation = {"quotaId": problem.code or _PER_MINUTE}
        details.append({"@type": f"{_TYPES}QuotaFailure", "violations": [violation]})
    elif problem.code is not None:
        reason = {"reason": problem.code, "domain": "googleapis.com"}
        details.append({"@type": f"{_TYPES}ErrorInfo"} | reason)
    if problem.retry_after is not None:
        delay = f"{problem.retry_after}s"
        details.append({"@type": f"{_TYPES}RetryInfo", "retryDelay": delay})
    return details
