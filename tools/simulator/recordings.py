"""The audio of a speech call: its headers, and the words that the simulator recognises in it."""

import io
from dataclasses import dataclass

import av

from simulator.exchange import Arrival, Exchange, steer
from simulator.provider import Problem, Refused

# A code of two letters that names no language, and that providers refuse.
_NO_LANGUAGE = "xx"


@dataclass(frozen=True, slots=True)
class Recording:
    """Audio, as described by its headers. Its tags may hold a steering line."""

    seconds: float
    format: str
    tags: list[str]


def read(data: bytes) -> Recording:
    """Read the headers of the audio. Raises `Refused` for anything else."""
    try:
        with av.open(io.BytesIO(data), "r") as container:
            if not container.streams.audio:
                raise _no_audio()
            seconds = (container.duration or 0) / av.time_base
            streams = [tag for stream in container.streams for tag in stream.metadata.values()]
            tags = [*container.metadata.values(), *streams]
            return Recording(round(seconds, 3), container.format.name.partition(",")[0], tags)
    except (av.FFmpegError, ValueError) as error:
        raise _no_audio() from error


def transcribe(
    arrival: Arrival, data: bytes, *, model: str, language: str | None, prompt: str = ""
) -> tuple[Exchange, Recording, str]:
    """The exchange, the recording, and the words in it. Raises `Refused`."""
    call = arrival.call
    call.model, call.language, call.audio_bytes = model, language, len(data)
    if language == _NO_LANGUAGE:
        words = f"Invalid language '{language}'. It must be in ISO-639-1 format."
        raise Refused(Problem(400, words, "invalid_language_format"))
    recording = read(data)
    call.audio_seconds = recording.seconds
    exchange = steer(arrival, [*recording.tags, prompt], prompt)
    text = exchange.steering.text
    return exchange, recording, _usual(model, recording) if text is None else text


def _usual(model: str, recording: Recording) -> str:
    return (
        f"This is the simulator, which stands in for {model} on this machine and hears nothing. "
        f"It was given {recording.seconds:g} seconds of audio in the format {recording.format}. "
        "Give the service this provider's key and the same audio goes to the real model instead."
    )


def _no_audio() -> Refused:
    return Refused(Problem(400, "Audio file might be corrupted or unsupported.", "invalid_value"))
