"""Deepgram's `POST /v1/listen`: the audio is the body."""

from datetime import UTC, datetime
from hashlib import sha256

from simulator import recordings
from simulator.connection import Connection
from simulator.exchange import Arrival
from simulator.provider import WRONG_KEY, Json, Problem, Refused
from simulator.recordings import Recording

_MODEL_ID = "40bd3654-e622-47c4-a111-63a61b23bfe8"


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    query = arrival.connection.query
    language = query.get("language")
    if language is not None and query.get("detect_language") == "true":
        raise Refused(Problem(400, "Give a language, or let it be detected.", "INVALID_QUERY"))
    exchange, recording, text = recordings.transcribe(
        arrival, arrival.body, model=query.get("model", "base"), language=language
    )
    await exchange.begin()
    await exchange.connection.pause(exchange.steering.delay_ms / 1000)
    return await exchange.send_whole(_answer(arrival, recording, text), lambda: None)


def _answer(arrival: Arrival, recording: Recording, text: str) -> Json:
    channel: Json = {"alternatives": [{"transcript": text, "confidence": 0.99, "words": []}]}
    if arrival.call.language is None:
        channel |= {"detected_language": "en", "language_confidence": 0.99}
    return {
        "metadata": {
            "request_id": arrival.call.id,
            "sha256": sha256(arrival.body).hexdigest(),
            "created": datetime.now(UTC).isoformat(),
            "duration": recording.seconds,
            "channels": 1,
            "models": [_MODEL_ID],
            "model_info": {_MODEL_ID: {"name": arrival.call.model, "arch": arrival.call.model}},
        },
        "results": {"channels": [channel]},
    }


_ERRORS = {
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
        code, message = _ERRORS.get(problem.status, ("INTERNAL_SERVER_ERROR", "Something failed."))
        return {
            "err_code": problem.code or code,
            "err_msg": problem.message or message,
            "request_id": request_id,
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {"dg-request-id": request_id}
