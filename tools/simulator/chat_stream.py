"""A chat answer as server-sent events, each with some words, and the faults of a stream."""

import random
from collections.abc import Iterator, Sequence

import msgspec

from simulator.answer import Answer
from simulator.chat_types import Chat, Form
from simulator.functions import FunctionCall
from simulator.provider import Json

_HALVES_APART = 0.002  # seconds: the halves of a split event travel in two packets
# The most words of an event: providers send a word at a time, some at a time, or many.
_MOST_WORDS = (1, 8, 50)
_LONGEST_MS = 200  # an event has the words of no more time


def event(payload: Json, name: str | None = None) -> bytes:
    """One server-sent event with a JSON payload; lines end with LF."""
    return line(msgspec.json.encode(payload), name)


def line(data: bytes, name: str | None = None) -> bytes:
    """One server-sent event with encoded data."""
    named = b"" if name is None else b"event: " + name.encode() + b"\n"
    return named + b"data: " + data + b"\n\n"


async def send(chat: Chat, form: Form) -> str:
    """Stream the answer and return the outcome. Raises `CallerGone`."""
    exchange, answer = chat.exchange, chat.answer
    options, connection = exchange.steering, exchange.connection
    if options.fault == "error_in_200" and form.dialect.plain_error_in_200:
        await connection.send_json(200, exchange.error(), exchange.headers)
        return "error_in_200"
    stream = _Stream(chat, form)
    await stream.open()
    if options.fault is None:
        await stream.speak(answer)
        await stream.write(form.closing())
        await connection.end()
        return "completed"
    position = options.fault_position(len(answer.spoken))
    if position > 0:
        await stream.speak(answer.cut(position))
    await exchange.fall_silent()
    if options.fault == "bad_json":
        await stream.write([form.broken()])
    elif options.fault != "truncate":
        await stream.write([form.failure()])
    await connection.end()
    return options.fault


class _Stream:
    """Writes the events of one answer. A token is counted just before it is sent."""

    def __init__(self, chat: Chat, form: Form) -> None:
        self._exchange = chat.exchange
        self._connection = chat.exchange.connection
        self._steering = chat.exchange.steering
        self._form = form
        self._crlf = self._steering.crlf or form.dialect.crlf
        self._comment = f": {form.dialect.comment}\n\n".encode()
        # The same answer comes in the same events.
        self._sizes = random.Random("".join(chat.answer.spoken))  # noqa: S311 - no secret
        most = self._steering.delta_tokens or self._sizes.choice(_MOST_WORDS)
        self._most = min(most, max(1, _LONGEST_MS // max(1, self._steering.delay_ms)))

    async def open(self) -> None:
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self._connection.start(200, headers | self._exchange.headers)
        if self._form.dialect.opens_with_comment:
            await self._send(self._comment)

    async def speak(self, answer: Answer) -> None:
        """The opening, the reasoning if the wire shows it, then the words and the calls."""
        call, form = self._exchange.call, self._form
        await self.write(form.opening())
        if form.dialect.shows_thoughts:
            for thoughts in self._in_events(answer.reasoning):
                call.reasoning_emitted += len(thoughts)
                await self._say(form.thought("".join(thoughts)), thoughts)
        for some in self._in_events(answer.words):
            call.tokens_emitted += len(some)
            await self._say(form.words(some), some)
        for function_call in answer.calls:
            await self._call(function_call)

    async def _call(self, call: FunctionCall) -> None:
        form = self._form
        if form.dialect.whole_calls and not call.is_whole:
            return
        await self.write(form.call(call))
        is_one_event = form.dialect.whole_calls
        pieces = [call.arguments] if is_one_event else self._in_events(call.arguments)
        for some in pieces:
            self._exchange.call.tokens_emitted += len(some)
            await self._say(form.arguments(call, some), some)

    async def write(self, blocks: Iterator[bytes] | list[bytes]) -> None:
        """Write events; steering may add a comment to each, or split it."""
        for block in blocks:
            await self._send(self._comment + block if self._steering.comments else block)

    def _in_events(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The words of each event: the first has one, for a provider begins as soon as it can."""
        size = 1
        while words:
            yield words[:size]
            words = words[size:]
            size = self._sizes.randint(1, self._most)

    async def _say(self, blocks: Iterator[bytes], words: Sequence[str]) -> None:
        self._exchange.call.bytes_emitted += len("".join(words).encode())
        await self.write(blocks)
        await self._connection.pause(self._steering.delay_ms * len(words) / 1000)

    async def _send(self, block: bytes) -> None:
        if self._crlf:
            block = block.replace(b"\n", b"\r\n")
        if self._steering.split:
            middle = _inside_a_character(block)
            await self._connection.write(block[:middle])
            await self._connection.pause(_HALVES_APART)
            block = block[middle:]
        await self._connection.write(block)


def _inside_a_character(block: bytes) -> int:
    """The position of a split: after the first byte of the first multi-byte character, or in the
    middle."""
    for index, byte in enumerate(block):
        if byte >= 0x80:
            return index + 1
    return len(block) // 2
