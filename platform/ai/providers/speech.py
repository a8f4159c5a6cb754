"""The common parts of speech interfaces: names of audio files, and the limit of an answer."""

from collections.abc import Mapping
from types import MappingProxyType

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
