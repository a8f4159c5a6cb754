"""Anthropic's chat wire: `POST {base_url}/v1/messages`.

Protocol: Anthropic's API reference, "Messages" and "Streaming Messages", version 2023-06-01.
"""

from collections.abc import AsyncGenerator

import msgspec

from ai.providers import anthropic_request, chat_calls
from ai.providers.anthropic_answers import AnswerReader
from ai.providers.config import ProviderConfig
from ai.providers.http_calls import HttpCall
from ai.providers.types import ChatEvent, ChatRequest, Deadlines
from common.http import UpstreamClient

_VERSION = "2023-06-01"
# Asks for the field `thinking.block_binding`.
_BETA = "thinking-binding-controls-2026-08-01"


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
        anthropic_request.check(request)

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        reader = AnswerReader(request)
        return chat_calls.streamed(self._client, self._call(request), reader, deadlines)

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        reader = AnswerReader(request)
        return await chat_calls.collected(self._client, self._call(request), reader, deadlines)

    def _call(self, request: ChatRequest) -> HttpCall:
        body = anthropic_request.body_of(request)
        headers = self._headers
        if "block_binding" in body.get("thinking", {}):
            headers = {**headers, "anthropic-beta": _BETA}
        return HttpCall(self._url, headers, msgspec.json.encode(body))
