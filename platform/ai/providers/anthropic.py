"""Anthropic's chat wire: `POST {base_url}/v1/messages`.

Protocol: Anthropic's API reference, "Messages" and "Streaming Messages", version 2023-06-01.
`max_tokens` bounds thinking and text together. Sampling parameters are never sent: the newer models
refuse them.
"""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from ai.providers import chat_calls
from ai.providers.anthropic_answers import AnswerReader
from ai.providers.config import ProviderConfig
from ai.providers.http_calls import HttpCall
from ai.providers.turns import conversation
from ai.providers.types import ChatEvent, ChatRequest, Deadlines
from common.http import UpstreamClient

_VERSION = "2023-06-01"


class Anthropic:
    """An `ai.providers.types.ChatWire`. Every call is streamed: the API advises this for answers
    that take minutes, because a dead connection then shows at once."""

    shows_reasoning = False  # summaries of it

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._url = f"{config.base_url}/v1/messages"
        self._headers = {
            "Content-Type": "application/json",
            "anthropic-version": _VERSION,
            "x-api-key": config.api_key,
        }

    def check(self, request: ChatRequest) -> None:
        """See `ChatWire.check`."""

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        return chat_calls.streamed(self._client, self._call(request), AnswerReader(), deadlines)

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        call = self._call(request)
        return await chat_calls.collected(self._client, call, AnswerReader(), deadlines)

    def _call(self, request: ChatRequest) -> HttpCall:
        return HttpCall(self._url, self._headers, msgspec.json.encode(_body(request)))


def _body(request: ChatRequest) -> dict[str, Any]:
    system, turns = conversation(request.messages)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
        "stream": True,
    }
    if system:
        body["system"] = system
    if request.reasoning_effort:
        # Without the field `display`, thinking is billed but its text is empty.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        body["output_config"] = {"effort": request.reasoning_effort}
    return body
