"""The chat wire that most providers speak: `POST {base_url}/chat/completions`.

Protocol: OpenAI's API reference, "Chat Completions"; departures are `providers.config.Flags`.
Sampling parameters are never sent: the newer models refuse them.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from common.http import TransportError, UpstreamClient, UpstreamResponse
from providers.config import ProviderConfig
from providers.errors import ProviderError, UpstreamError
from providers.openai_answers import AnswerReader
from providers.openai_errors import error_from
from providers.sse import SseSplitter
from providers.types import ChatEvent, ChatRequest, Deadlines

MAX_ANSWER = 16_000_000  # bytes
MAX_ERROR = 65_536  # bytes

# Seconds for the end of the body to follow [DONE], so that the connection can be used again.
_LINGER = 0.2


class OpenAICompatible:
    """One provider's chat interface (a `providers.types.ChatWire`).

    It never retries; only `UpstreamClient.post` repeats a call that met a dead connection, once.
    """

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._flags = config.flags
        self._client = client
        self._url = f"{config.base_url}/chat/completions"
        self._headers = {"Content-Type": "application/json"}
        if config.api_key:
            self._headers["Authorization"] = f"Bearer {config.api_key}"

    async def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`. Usage and finish come together, as the last batch.

        Closing the generator, or cancelling who iterates it, closes the connection.
        """
        now = asyncio.get_running_loop().time
        last = now() + deadlines.total
        by = min(last, now() + deadlines.first_byte)
        response = await self._open(self._body(request, stream=True), deadlines.connect, by)
        try:
            reader = self._reader()
            if _is_json(response):
                yield await _read_whole(response, reader, last)
                return
            splitter = SseSplitter()
            at_end = False
            while not (at_end or reader.done):
                chunk = await _next_chunk(response, reader, by)
                by = min(last, now() + deadlines.idle)
                at_end = not chunk
                events, failure = _read_events(splitter, reader, chunk)
                if events:
                    yield events
                if failure:
                    raise failure
            yield reader.closing()
            if not at_end:
                await _linger(response)
        finally:
            response.close()

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        if self._flags.always_stream:
            return await self._collect(request, deadlines)
        last = asyncio.get_running_loop().time() + deadlines.total
        response = await self._open(self._body(request, stream=False), deadlines.connect, last)
        try:
            return await _read_whole(response, self._reader(), last)
        finally:
            response.close()

    async def _collect(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """A streamed call for somebody who waits for the whole: only the total counts."""
        patient = replace(deadlines, first_byte=deadlines.total, idle=deadlines.total)
        return [event async for events in self.stream(request, patient) for event in events]

    def _reader(self) -> AnswerReader:
        return AnswerReader(reasoning_added_to_completion=self._flags.reasoning_added_to_completion)

    def _body(self, request: ChatRequest, *, stream: bool) -> bytes:
        flags = self._flags
        messages = [{"role": message.role, "content": message.text} for message in request.messages]
        if flags.default_system_message and all(m["role"] != "system" for m in messages):
            messages.insert(0, {"role": "system", "content": flags.default_system_message})
        body: dict[str, Any] = {
            "model": request.model,
            "messages": messages,
            flags.max_field: request.max_output_tokens,
            "stream": stream,
        }
        if stream and flags.send_stream_options:
            body["stream_options"] = {"include_usage": True}
        if request.reasoning_effort and flags.effort_map:
            body["reasoning_effort"] = flags.effort_map[request.reasoning_effort]
        if flags.temperature is not None:
            body["temperature"] = flags.temperature
        return msgspec.json.encode(body)

    async def _open(self, body: bytes, connect_timeout: float, by: float) -> UpstreamResponse:
        """The answer to that call, its status checked. `by` is a time of the event loop."""
        try:
            async with asyncio.timeout_at(by):
                response = await self._client.post(
                    self._url, self._headers, body, connect_timeout=connect_timeout
                )
                if response.status == 200:
                    return response
                raise error_from(response.status, await _error_body(response))
        except TransportError as error:
            raise _broken(error) from error
        except TimeoutError:
            raise _too_late() from None


async def _error_body(response: UpstreamResponse) -> bytes:
    """What the provider says about its refusal: nothing, if that cannot be read."""
    try:
        return await response.read(MAX_ERROR)
    except TransportError:
        return b""
    finally:
        response.close()


async def _read_whole(
    response: UpstreamResponse, reader: AnswerReader, by: float
) -> list[ChatEvent]:
    """All events of a plain JSON answer."""
    try:
        async with asyncio.timeout_at(by):
            body = await response.read(MAX_ANSWER)
    except TransportError as error:
        raise _broken(error) from error
    except TimeoutError:
        raise _too_late() from None
    events: list[ChatEvent] = []
    reader.read(body, events)
    return events + reader.closing()


async def _next_chunk(response: UpstreamResponse, reader: AnswerReader, by: float) -> bytes:
    """What the network brought, b"" at the end. After the finish a broken connection is an end."""
    try:
        async with asyncio.timeout_at(by):
            return await response.read_chunk(MAX_ANSWER)
    except TransportError as error:
        failure = _broken(error)
    except TimeoutError:
        failure = _too_late()
    if reader.finish is None:
        raise failure
    return b""


def _read_events(
    splitter: SseSplitter, reader: AnswerReader, chunk: bytes
) -> tuple[list[ChatEvent], ProviderError | None]:
    """The events of one read, and the failure that ended them: what came before it still counts."""
    events: list[ChatEvent] = []
    try:
        for payload in splitter.feed(chunk) if chunk else splitter.flush():
            reader.read(payload, events)
            if reader.done:
                break
    except ProviderError as error:
        return events, error
    return events, None


async def _linger(response: UpstreamResponse) -> None:
    with suppress(TransportError, TimeoutError):
        async with asyncio.timeout(_LINGER):
            while await response.read_chunk(MAX_ANSWER):
                pass


def _is_json(response: UpstreamResponse) -> bool:
    return response.headers.get("Content-Type", "").startswith("application/json")


def _broken(error: TransportError) -> UpstreamError:
    return UpstreamError(f"The connection to the provider failed ({error}).")


def _too_late() -> UpstreamError:
    return UpstreamError("The provider did not answer in time.", retryable=False)
