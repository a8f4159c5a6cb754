"""Deepgram's `POST /v1/listen`: the audio is the body."""

from datetime import UTC, datetime
from hashlib import sha256

from simulator import recordings
from simulator.exchange import Arrival
from simulator.problems import Problem, Refused
from simulator.provider import Json
from simulator.recordings import Recording

_MODEL_ID = "40bd3654-e622-47c4-a111-63a61b23bfe8"


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    query = arrival.connection.query
    language = query.get("language")
    if language is not None and query.get("detect_language") == "true":
        raise Refused(Problem(400, "Give a language, or let it be detected.", "INVALID_QUERY"))
    exchange, recording, text = recordings.hear(
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
