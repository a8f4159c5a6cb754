"""Deepgram's speech interface: `POST {base_url}/listen`, with the audio as the body.

Protocol: Deepgram's API reference, "Pre-recorded audio".
"""

from typing import Annotated
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Raw, Struct

from ai.providers.config import ProviderConfig
from ai.providers.http_calls import HttpCall
from ai.providers.paid_calls import PaidCalls
from ai.providers.speech import MAX_ANSWER, MEDIA_TYPES, transcript
from ai.providers.types import Deadlines, SpeechRequest, Transcript
from common.http import UpstreamClient


class _Alternative(Struct):
    transcript: str


class _Channel(Struct):
    alternatives: Annotated[list[_Alternative], Meta(min_length=1)]
    detected_language: Raw = Raw()


class _Results(Struct):
    channels: Annotated[list[_Channel], Meta(min_length=1)]


class _Answer(Struct):
    results: _Results


_decode_answer = msgspec.json.Decoder(_Answer).decode


class Deepgram:
    """Deepgram's interface (an `ai.providers.types.SpeechWire`). It never retries."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._url = f"{config.base_url}/listen"
        self._headers = {"Authorization": f"Token {config.api_key}"}

    async def transcribe(self, request: SpeechRequest, deadlines: Deadlines) -> Transcript:
        """See `SpeechWire.transcribe`. All channels of the audio are transcribed as one."""
        headers = {**self._headers, "Content-Type": MEDIA_TYPES[request.format]}
        call = HttpCall(f"{self._url}?{_query(request)}", headers, request.audio)
        calls = PaidCalls(self._client, deadlines)
        answer = await calls.post(call, _decode_answer, limit=MAX_ANSWER)
        channel = answer.results.channels[0]
        text = channel.alternatives[0].transcript
        return transcript(text, channel.detected_language, request)


def _query(request: SpeechRequest) -> str:
    wanted = {"language": request.language} if request.language else {"detect_language": "true"}
    return urlencode({"model": request.model, "smart_format": "true", **wanted})
