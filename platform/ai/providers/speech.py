"""The common parts of speech interfaces: names of audio files, the limit of an answer, and what is
read of it."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec import Raw

from ai.providers.languages import iso_code
from ai.providers.payloads import sensible, without_nul
from ai.providers.types import SpeechRequest, Transcript
from media.audio.measuring import AudioFormat

# Hours of speech with a time for each word take a few million bytes.
MAX_ANSWER = 32_000_000

MEDIA_TYPES: Mapping[AudioFormat, str] = MappingProxyType(
    {
        "flac": "audio/flac",
        "mp3": "audio/mpeg",
        "mp4": "audio/mp4",
        "mpeg": "video/mpeg",
        "ogg": "audio/ogg",
        "wav": "audio/wav",
        "webm": "audio/webm",
    }
)

_decode_language = msgspec.json.Decoder(str).decode


def transcript(text: str, detected: Raw, request: SpeechRequest) -> Transcript:
    """What was heard. The language is the one that was `detected`, or else the requested one."""
    told = sensible(_decode_language, detected)
    language = (iso_code(told) if told else None) or request.language
    return Transcript(without_nul(text).strip(), language)
