"""OpenAI's speech interface, which others have too: `POST {base_url}/audio/transcriptions`.

Protocol: OpenAI's API reference, "Create transcription". Only Whisper reports the language, and
only in the verbose format; OpenAI's other models refuse that format.
"""

import msgspec
from msgspec import Raw, Struct

from ai.providers.config import ProviderConfig
from ai.providers.forms import FormFile, multipart
from ai.providers.http_calls import HttpCall
from ai.providers.paid_calls import PaidCalls
from ai.providers.speech import MAX_ANSWER, MEDIA_TYPES, transcript
from ai.providers.types import Deadlines, SpeechRequest, Transcript
from common.http import UpstreamClient


class _Answer(Struct):
    text: str
    language: Raw = Raw()


_decode_answer = msgspec.json.Decoder(_Answer).decode


class OpenAISpeech:
    """One provider's speech interface (an `ai.providers.types.SpeechWire`). It never retries."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._url = f"{config.base_url}/audio/transcriptions"
        self._headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}

    async def transcribe(self, request: SpeechRequest, deadlines: Deadlines) -> Transcript:
        """See `SpeechWire.transcribe`."""
        media_type, body = multipart(_fields(request), _file(request))
        call = HttpCall(self._url, {**self._headers, "Content-Type": media_type}, body)
        calls = PaidCalls(self._client, deadlines)
        answer = await calls.post(call, _decode_answer, limit=MAX_ANSWER)
        return transcript(answer.text, answer.language, request)


def _fields(request: SpeechRequest) -> dict[str, str]:
    is_verbose = request.model.startswith("whisper")
    fields = {"model": request.model, "response_format": "verbose_json" if is_verbose else "json"}
    return fields | ({"language": request.language} if request.language else {})


def _file(request: SpeechRequest) -> FormFile:
    """The file. Its name carries the format."""
    return FormFile("file", f"audio.{request.format}", MEDIA_TYPES[request.format], request.audio)
