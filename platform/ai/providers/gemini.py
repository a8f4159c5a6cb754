"""Google's chat wire: `POST {base_url}/models/{model}:generateContent`, and its streaming twin.

Protocol: Gemini API reference, "Generating content", v1beta. `maxOutputTokens` bounds thoughts and
text together. Sampling parameters are never sent: the newer models refuse them.
"""

from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import msgspec

from ai.providers import chat_calls
from ai.providers.config import ProviderConfig
from ai.providers.gemini_answers import AnswerReader
from ai.providers.http_calls import HttpCall
from ai.providers.turns import conversation
from ai.providers.types import ChatEvent, ChatRequest, Deadlines, ReasoningEffort
from common.http import UpstreamClient

_LEVELS: dict[ReasoningEffort, str] = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
_ROLES = {"user": "user", "assistant": "model"}


class Gemini:
    """An `ai.providers.types.ChatWire`."""

    shows_reasoning = False  # summaries of it

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._base_url = config.base_url
        self._headers = {"Content-Type": "application/json", "x-goog-api-key": config.api_key}

    def check(self, request: ChatRequest) -> None:
        """See `ChatWire.check`."""

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        # Without alt=sse the stream is one long JSON array.
        call = self._call(request, "streamGenerateContent?alt=sse")
        return chat_calls.streamed(self._client, call, AnswerReader(), deadlines)

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        call = self._call(request, "generateContent")
        return await chat_calls.plain(self._client, call, AnswerReader(), deadlines)

    def _call(self, request: ChatRequest, method: str) -> HttpCall:
        url = f"{self._base_url}/models/{quote(request.model, safe='')}:{method}"
        return HttpCall(url, self._headers, msgspec.json.encode(_body(request)))


def _body(request: ChatRequest) -> dict[str, Any]:
    system, turns = conversation(request.messages)
    generation: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    if request.reasoning_effort:
        level = _LEVELS[request.reasoning_effort]
        generation["thinkingConfig"] = {"thinkingLevel": level, "includeThoughts": True}
    body: dict[str, Any] = {
        "contents": [{"role": _ROLES[turn.role], **_parts(turn.text)} for turn in turns],
        "generationConfig": generation,
    }
    if system:
        body["systemInstruction"] = _parts(system)
    return body


def _parts(text: str) -> dict[str, Any]:
    return {"parts": [{"text": text}]}
