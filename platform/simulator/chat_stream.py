"""A chat answer as server-sent events: one per word, and the ways in which a stream can fail."""

from collections.abc import Iterator

import msgspec

from simulator.chat_types import Chat, Form
from simulator.provider import Json

_HALVES_APART = 0.002  # seconds, so that the halves of a split event travel in two packets


def event(payload: Json, name: str | None = None) -> bytes:
    """One server-sent event with a JSON payload; lines end with LF."""
    return line(msgspec.json.encode(payload), name)


def line(data: bytes, name: str | None = None) -> bytes:
    """One server-sent event of ready bytes."""
    named = b"" if name is None else b"event: " + name.encode() + b"\n"
    return named + b"data: " + data + b"\n\n"


async def send(chat: Chat, form: Form) -> str:
    """Stream the answer and return the outcome. Raises `CallerGone`."""
    exchange, words = chat.exchange, chat.answer.words
    wishes, connection = exchange.steering, exchange.connection
    if wishes.fault == "error_in_200" and form.habits.plain_error_in_200:
        await connection.send_json(200, exchange.error(), exchange.headers)
        return "error_in_200"
    stream = _Stream(chat, form)
    await stream.open()
    if wishes.fault is None:
        await stream.speak(words)
        await stream.write(form.closing())
        await connection.end()
        return "completed"
    position = wishes.fault_position(len(words))
    if position > 0:
        await stream.speak(words[:position])
    await exchange.fall_silent()
    if wishes.fault == "bad_json":
        await stream.write([form.broken()])
    elif wishes.fault != "truncate":
        await stream.write([form.failure()])
    await connection.end()
    return wishes.fault


class _Stream:
    """Writes the events of one answer; counts a token just before it goes to the socket."""

    def __init__(self, chat: Chat, form: Form) -> None:
        self._exchange = chat.exchange
        self._connection = chat.exchange.connection
        self._steering = chat.exchange.steering
        self._answer = chat.answer
        self._form = form
        self._crlf = self._steering.crlf or form.habits.crlf
        self._comment = f": {form.habits.comment}\n\n".encode()

    async def open(self) -> None:
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self._connection.start(200, headers | self._exchange.headers)
        if self._form.habits.opens_with_comment:
            await self._send(self._comment)

    async def speak(self, words: tuple[str, ...]) -> None:
        """The opening, the reasoning where the wire shows it, then the words."""
        call, form = self._exchange.call, self._form
        await self.write(form.opening())
        if form.habits.shows_thoughts:
            for thought in self._answer.reasoning:
                call.reasoning_emitted += 1
                await self._say(form.thought(thought))
        for word in words:
            call.tokens_emitted += 1
            await self._say(form.word(word))

    async def write(self, blocks: Iterator[bytes] | list[bytes]) -> None:
        """Some events; steering may add a comment to each, or cut it in two."""
        for block in blocks:
            await self._send(self._comment + block if self._steering.comments else block)

    async def _say(self, blocks: Iterator[bytes]) -> None:
        await self.write(blocks)
        await self._connection.pause(self._steering.delay_ms / 1000)

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
    """Where to cut: after the first byte of the first multi-byte character, else in the middle."""
    for index, byte in enumerate(block):
        if byte >= 0x80:
            return index + 1
    return len(block) // 2
