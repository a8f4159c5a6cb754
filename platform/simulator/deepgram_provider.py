"""Deepgram's key and errors."""

from simulator.connection import Connection
from simulator.problems import Problem, Refused
from simulator.provider import WRONG_KEY, Json

_USUAL = {
    400: ("Bad Request", "Bad Request: failed to process audio: corrupt or unsupported data"),
    401: ("INVALID_AUTH", "Invalid credentials."),
    402: ("ASR_PAYMENT_REQUIRED", "Project does not have enough credits for an ASR request."),
    403: ("INSUFFICIENT_PERMISSIONS", "User does not have sufficient permissions."),
    413: ("Payload Too Large", "The request is too large."),
    429: ("TOO_MANY_REQUESTS", "Too many requests. Please try again later."),
    503: ("Service Unavailable", "The service is temporarily unavailable."),
    504: ("Gateway Timeout", "The request took too long to process."),
}


class Deepgram:
    """The key comes as a `Token`."""

    retry_after_header = False

    def require_key(self, connection: Connection) -> None:
        scheme, _, key = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "token" or key.strip() in ("", WRONG_KEY):
            raise Refused(Problem(401))

    def error(self, problem: Problem, request_id: str) -> Json:
        code, message = _USUAL.get(problem.status, ("INTERNAL_SERVER_ERROR", "Something failed."))
        return {
            "err_code": problem.code or code,
            "err_msg": problem.message or message,
            "request_id": request_id,
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {"dg-request-id": request_id}
