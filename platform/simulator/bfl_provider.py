"""Black Forest Labs' key and errors."""

from simulator.connection import Connection
from simulator.problems import Problem, Refused
from simulator.provider import WRONG_KEY, Json

_USUAL = {
    402: "Insufficient credits. You can add more at api.bfl.ai.",
    403: "Not authenticated - Invalid Authentication",
    404: "Not Found",
    422: "Value error",
    429: "Rate limit exceeded. You can have up to 24 active tasks.",
    503: "The service is temporarily unavailable.",
}


class BlackForestLabs:
    """The key comes in `x-key`; there is no 401."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        key = connection.headers.get("x-key", "").strip()
        if not key:
            raise Refused(Problem(403, "Not authenticated - No Authentication"))
        if key == WRONG_KEY:
            raise Refused(Problem(403))

    def error(self, problem: Problem, request_id: str) -> Json:
        """`detail` is a sentence; of an invalid request it is a list of what is wrong where."""
        message = problem.message or _USUAL.get(problem.status, "Internal Server Error")
        if problem.status != 422:
            return {"detail": message}
        where = ["body", problem.param or "prompt"]
        return {"detail": [{"loc": where, "msg": message, "type": problem.code or "value_error"}]}

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
