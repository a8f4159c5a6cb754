"""The streamed form of OpenAI's chat wire: one event per word, usage where the vendor puts it."""

import msgspec

from simulator.exchange import Exchange
from simulator.vendors import Json

_HALVES_APART = 0.002  # seconds, so that the halves of a split event travel in two packets


async def send(exchange: Exchange) -> str:
    """Stream the answer and return the outcome. Raises `CallerGone`."""
    wishes, words = exchange.steering, exchange.answer.words
    if wishes.fault == "error_in_200" and exchange.vendor.plain_error_in_200:
        await exchange.connection.send_json(200, exchange.error(), exchange.headers)
        return "error_in_200"
    stream = _Stream(exchange)
    await stream.open()
    if wishes.fault is None:
        await stream.speak(words)
        await stream.close()
        return "completed"
    position = wishes.fault_position(len(words))
    if position > 0:
        await stream.speak(words[:position])
    await exchange.fall_silent()
    if wishes.fault == "bad_json":
        await stream.line(b'{"id":"chatcmpl-')
    elif wishes.fault != "truncate":
        await stream.event(exchange.error())
    await exchange.connection.end()
    return wishes.fault


class _Stream:
    """Writes the events of one answer; counts a token just before it goes to the socket."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._connection = exchange.connection
        self._steering = exchange.steering
        self._vendor = exchange.vendor

    async def open(self) -> None:
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self._connection.start(200, headers | self._exchange.headers)

    async def speak(self, words: tuple[str, ...]) -> None:
        """The role, the reasoning where the vendor shows it, then the words."""
        call = self._exchange.call
        opening = self._chunk({"role": "assistant", "content": "", "refusal": None})
        if self._vendor.x_groq:
            opening["x_groq"] = {"id": f"req_{call.id}"}
        await self.event(opening)
        if self._vendor.reasoning_field:
            for thought in self._exchange.answer.reasoning:
                call.reasoning_emitted += 1
                await self._say({self._vendor.reasoning_field: thought})
        for word in words:
            call.tokens_emitted += 1
            await self._say({"content": word})

    async def close(self) -> None:
        """The finish reason, the usage, the end."""
        usage = self._exchange.usage()
        finish = self._chunk({}, self._exchange.answer.finish)
        if self._vendor.usage_chunk == "finish" and usage is not None:
            finish["usage"] = usage
            if self._vendor.x_groq:
                finish["x_groq"] = {"id": f"req_{self._exchange.call.id}", "usage": usage}
        await self.event(finish)
        if self._shows_usage_apart and usage is not None:
            await self.event(self._exchange.envelope(_CHUNK, []) | {"usage": usage})
        await self.line(b"[DONE]")
        await self._connection.end()

    async def event(self, payload: Json) -> None:
        await self.line(msgspec.json.encode(payload))

    async def line(self, data: bytes) -> None:
        """One event; steering may add a comment, end lines with CRLF, or cut it in two."""
        block = b"data: " + data + b"\n\n"
        if self._steering.comments:
            block = b": keep-alive\n\n" + block
        if self._steering.crlf:
            block = block.replace(b"\n", b"\r\n")
        if self._steering.split:
            middle = _inside_a_character(block)
            await self._connection.write(block[:middle])
            await self._connection.pause(_HALVES_APART)
            block = block[middle:]
        await self._connection.write(block)

    @property
    def _shows_usage_apart(self) -> bool:
        return self._vendor.usage_chunk == "own" and self._exchange.include_usage

    async def _say(self, delta: Json) -> None:
        await self.event(self._chunk(delta))
        await self._connection.pause(self._steering.delay_ms / 1000)

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = self._exchange.envelope(_CHUNK, [choice])
        if self._shows_usage_apart:
            chunk["usage"] = None
        return chunk


_CHUNK = "chat.completion.chunk"


def _inside_a_character(block: bytes) -> int:
    """Where to cut: after the first byte of the first multi-byte character, else in the middle."""
    for index, byte in enumerate(block):
        if byte >= 0x80:
            return index + 1
    return len(block) // 2
