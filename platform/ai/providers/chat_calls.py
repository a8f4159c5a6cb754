"""A chat call over HTTP, the same on every wire; only the reader of the answer differs."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress

from msgspec.structs import replace

from ai.providers.errors import AnswerTooLate, ProviderError, UpstreamError
from ai.providers.http_calls import HttpCall, answered, broken, read_body
from ai.providers.payloads import without_nul
from ai.providers.sse import SseSplitter
from ai.providers.surrogates import MARK, join_halves, split_half, unmark_halves
from ai.providers.types import (
    ChatEvent,
    Deadlines,
    Delta,
    Finish,
    FinishReason,
    ToolCallDelta,
    Usage,
)
from common.http import TransportError, UpstreamClient, UpstreamResponse

MAX_ANSWER = 16_000_000  # bytes

# Seconds to wait for the end of the body after the last event, so that the connection can be
# reused.
_LINGER = 0.2


class AnswerReader(ABC):
    """Reads one answer: the payloads of a stream one by one, or a plain answer as a single payload.

    `finish` is set when the answer is known to be whole, `done` when nothing can follow.
    """

    __slots__ = ("_counts", "_half", "done", "finish")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        # A delta with the first half of a character, whose second one may come in the next delta.
        self._half: Delta | None = None
        self.finish: FinishReason | None = None
        self.done = False

    @property
    @abstractmethod
    def usage(self) -> Usage | None:
        """The provider's count from the beginning of the answer."""

    @abstractmethod
    def read(self, payload: bytes, events: list[ChatEvent]) -> None:
        """Append the deltas of one payload to `events`. Raises ProviderErrors."""

    def unpaired(self) -> list[ChatEvent]:
        """U+FFFD for half of a character, where nothing follows that it could be joined with."""
        half, self._half = self._half, None
        return [replace(half, text="\ufffd")] if half else []

    def _add(self, delta: Delta, events: list[ChatEvent]) -> None:
        """Append a delta that is not empty, or that begins a tool call."""
        text = delta.text
        if self._half is not None or MARK in text or "\0" in text:
            delta = replace(delta, text=without_nul(self._whole(delta, events)))
            if not (delta.text or _begins_call(delta)):
                return
        events.append(delta)

    def _whole(self, delta: Delta, events: list[ChatEvent]) -> str:
        """The text of a delta in whole characters, with the half that the delta before it has left,
        and without the one that it leaves."""
        if self._half is not None and not _continues(delta, self._half):
            events += self.unpaired()
        before = self._half.text if self._half is not None else ""
        text, half = split_half(before + unmark_halves(delta.text))
        self._half = _continuation(delta, half) if half else None
        return join_halves(text)

    def closing(self) -> list[ChatEvent]:
        """The usage, if any came, and the finish, which comes last: some providers send usage after
        it. Raises UpstreamError if the answer is incomplete."""
        if self.finish is None:
            raise UpstreamError("The provider's answer broke off.")
        usage = self.usage
        return [usage, Finish(self.finish)] if usage else [Finish(self.finish)]


def _begins_call(delta: Delta) -> bool:
    return isinstance(delta, ToolCallDelta) and bool(delta.id)


def _continues(delta: Delta, half: Delta) -> bool:
    """Is a delta of the same text, or of the same call?"""
    return _continuation(delta, half.text) == half


def _continuation(delta: Delta, text: str) -> Delta:
    if isinstance(delta, ToolCallDelta):
        return ToolCallDelta(delta.index, text)
    return type(delta)(text)


async def streamed(
    client: UpstreamClient, call: HttpCall, reader: AnswerReader, deadlines: Deadlines
) -> AsyncGenerator[list[ChatEvent], None]:
    """See `ChatWire.stream`. The finish comes last, by itself or after a usage.

    Closing the generator, or cancelling the task that iterates it, closes the connection.
    """
    now = asyncio.get_running_loop().time
    last = now() + deadlines.total
    by = min(last, now() + deadlines.first_byte)
    response = await answered(_sent(client, call, deadlines), by)
    # What was sent is not sent again, and the answer may take minutes: its body has 5 KB for a step
    # of a small run, and megabytes with pictures.
    del call
    try:
        if _is_json(response):
            yield await _read_whole(response, reader, last)
            return
        splitter = SseSplitter()
        at_end = False
        counted: Usage | None = None
        while not (at_end or reader.done):
            chunk = await _next_chunk(response, reader, by)
            by = min(last, now() + deadlines.idle)
            at_end = not chunk
            events, failure = _read_events(splitter, reader, chunk)
            if reader.usage != counted:
                # Yielded at once, because the connection may still break.
                counted = reader.usage
                events += [counted] if counted else []
            if events:
                yield events
            if failure:
                raise failure
        yield [event for event in reader.closing() if event != counted]
        if not at_end:
            await _linger(response)
    finally:
        response.close()


async def plain(
    client: UpstreamClient, call: HttpCall, reader: AnswerReader, deadlines: Deadlines
) -> list[ChatEvent]:
    """See `ChatWire.complete`. The call must request a plain JSON answer."""
    last = asyncio.get_running_loop().time() + deadlines.total
    response = await answered(_sent(client, call, deadlines), last)
    try:
        return await _read_whole(response, reader, last)
    finally:
        response.close()


async def collected(
    client: UpstreamClient, call: HttpCall, reader: AnswerReader, deadlines: Deadlines
) -> list[ChatEvent]:
    """A streamed call, collected for a caller that waits for the whole: only the total deadline
    counts."""
    patient = replace(deadlines, first_byte=deadlines.total, idle=deadlines.total)
    batches = streamed(client, call, reader, patient)
    del call  # for the reason that `streamed` gives
    return [event async for events in batches for event in events]


def _sent(
    client: UpstreamClient, call: HttpCall, deadlines: Deadlines
) -> Awaitable[UpstreamResponse]:
    return client.post(call.url, call.headers, call.body, connect_timeout=deadlines.connect)


async def _read_whole(
    response: UpstreamResponse, reader: AnswerReader, by: float
) -> list[ChatEvent]:
    """All events of a plain JSON answer."""
    events: list[ChatEvent] = []
    reader.read(await read_body(response, MAX_ANSWER, by), events)
    return events + reader.unpaired() + reader.closing()


async def _next_chunk(response: UpstreamResponse, reader: AnswerReader, by: float) -> bytes:
    """The next bytes, b"" at the end. After the finish a broken connection counts as the end."""
    try:
        async with asyncio.timeout_at(by):
            return await response.read_chunk(MAX_ANSWER)
    except TransportError as error:
        failure: UpstreamError = broken(error)
    except TimeoutError:
        failure = AnswerTooLate()
    if reader.finish is None:
        raise failure
    return b""


def _read_events(
    splitter: SseSplitter, reader: AnswerReader, chunk: bytes
) -> tuple[list[ChatEvent], ProviderError | None]:
    """The events of one read, and the failure that ended them: the events before it still count."""
    events: list[ChatEvent] = []
    try:
        for payload in splitter.feed(chunk) if chunk else splitter.flush():
            reader.read(payload, events)
            if reader.done:
                break
    except ProviderError as error:
        return events + reader.unpaired(), error
    if reader.done or not chunk:
        events += reader.unpaired()
    return events, None


async def _linger(response: UpstreamResponse) -> None:
    with suppress(TransportError, TimeoutError):
        async with asyncio.timeout(_LINGER):
            while await response.read_chunk(MAX_ANSWER):
                pass


def _is_json(response: UpstreamResponse) -> bool:
    return response.headers.get("Content-Type", "").startswith("application/json")
