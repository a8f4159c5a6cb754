"""OpenAI's `POST /v1/audio/transcriptions`."""

from typing import Literal

import msgspec

from simulator import forms, recordings
from simulator.exchange import Arrival, Exchange
from simulator.provider import Json, Problem, Refused
from simulator.recordings import Recording


class SpeechBody(msgspec.Struct):
    """The fields of the form without the file."""

    model: str
    language: str | None = None
    prompt: str = ""
    response_format: Literal["json", "verbose_json"] = "json"
    temperature: str = "0"


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    body, audio = _read(arrival)
    exchange, recording, text = recordings.transcribe(
        arrival, audio, model=body.model, language=body.language, prompt=body.prompt
    )
    await exchange.begin()
    await exchange.connection.pause(exchange.steering.delay_ms / 1000)
    if body.response_format == "verbose_json":
        answer = _verbose(body, recording, text)
    else:
        answer = {"text": text, **_usage(exchange, recording)}
    if arrival.call.provider == "groq":
        answer["x_groq"] = {"id": exchange.call.request_id}
    return await exchange.send_whole(answer, lambda: None)


def _read(arrival: Arrival) -> tuple[SpeechBody, bytes]:
    found = forms.read_multipart(arrival)
    audio = found.pop("file", None)
    if audio is None:
        raise Refused(Problem(400, "Missing required parameter: 'file'.", param="file"))
    try:
        named = {name: values[-1].decode() for name, values in found.items()}
        body = msgspec.convert(named, SpeechBody)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}", "invalid_value")) from error
    if body.response_format != "json" and body.model.startswith("gpt-"):
        message = f"response_format '{body.response_format}' is not compatible with this model."
        raise Refused(Problem(400, message, "unsupported_value", "response_format"))
    return body, audio[-1]


def _verbose(body: SpeechBody, recording: Recording, text: str) -> Json:
    """Whisper's form, with the name of the language."""
    segment = {"id": 0, "start": 0.0, "end": recording.seconds, "text": text}
    return {
        "task": "transcribe",
        "language": body.language or "english",
        "duration": recording.seconds,
        "text": text,
        "segments": [segment],
    }


def _usage(exchange: Exchange, recording: Recording) -> Json:
    if exchange.steering.no_usage:
        return {}
    return {"usage": {"type": "duration", "seconds": round(recording.seconds)}}
