"""Google's chat wire: `POST {base_url}/models/{model}:generateContent`, and its streaming twin.

Protocol: Gemini API reference, "Generating content", v1beta.
"""

from collections.abc import AsyncGenerator
from urllib.parse import quote

import msgspec

from ai.providers import chat_calls, gemini_request
from ai.providers.config import ProviderConfig
from ai.providers.gemini_answers import AnswerReader
from ai.providers.http_calls import HttpCall
from ai.providers.types import ChatEvent, ChatRequest, Deadlines
from common.http import UpstreamClient


class Gemini:
    """An `ai.providers.types.ChatWire`."""

    shows_reasoning = False  # summaries of it

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._base_url = config.base_url
        self._headers = {"Content-Type": "application/json", "x-goog-api-key": config.api_key}

    def check(self, request: ChatRequest) -> None:
        """See `ChatWire.check`."""
        gemini_request.check(request)

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        # Without alt=sse the stream is one long JSON array.
        call = self._call(request, "streamGenerateContent?alt=sse")
        return chat_calls.streamed(self._client, call, AnswerReader(request), deadlines)

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        call = self._call(request, "generateContent")
        return await chat_calls.plain(self._client, call, AnswerReader(request), deadlines)

    def _call(self, request: ChatRequest, method: str) -> HttpCall:
        url = f"{self._base_url}/models/{quote(request.model, safe='')}:{method}"
        body = gemini_request.body_of(request)
        return HttpCall(url, self._headers, msgspec.json.encode(body))
