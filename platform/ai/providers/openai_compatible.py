"""The chat wire that most providers speak: `POST {base_url}/chat/completions`.

Protocol: OpenAI's API reference, "Chat Completions"; departures are `ai.providers.config.Flags`.
"""

from collections.abc import AsyncGenerator

from ai.providers import chat_calls
from ai.providers.config import ProviderConfig
from ai.providers.http_calls import HttpCall
from ai.providers.openai_answers import answer_reader
from ai.providers.openai_checks import check_request
from ai.providers.openai_request import encode_request
from ai.providers.types import ChatEvent, ChatRequest, Deadlines
from common.http import UpstreamClient


class OpenAICompatible:
    """One provider's chat interface (an `ai.providers.types.ChatWire`).

    It never retries; only `UpstreamClient.post` repeats a call that used a dead connection, once.
    """

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._flags = config.flags
        self.shows_reasoning = config.flags.shows_reasoning
        self._client = client
        self._url = f"{config.base_url}/chat/completions"
        self._headers = {"Content-Type": "application/json"}
        if config.api_key:
            self._headers["Authorization"] = f"Bearer {config.api_key}"

    def check(self, request: ChatRequest) -> None:
        """See `ChatWire.check`."""
        check_request(request, self._flags)

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        call = self._call(request, stream=True)
        return chat_calls.streamed(
            self._client, call, answer_reader(request, self._flags), deadlines
        )

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        reader = answer_reader(request, self._flags)
        carry_out = chat_calls.collected if self._flags.always_stream else chat_calls.plain
        return await carry_out(
            self._client,
            self._call(request, stream=self._flags.always_stream),
            reader,
            deadlines,
        )

    def _call(self, request: ChatRequest, *, stream: bool) -> HttpCall:
        body = encode_request(request, self._flags, stream=stream)
        return HttpCall(self._url, self._headers, body)
