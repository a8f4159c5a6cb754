"""Anthropic's `POST /v1/messages`: named events, blocks of content, usage at both ends."""

from collections.abc import Iterator, Sequence

from simulator import anthropic_request, chat, signatures
from simulator.answer import Ending
from simulator.chat_stream import event
from simulator.chat_types import Chat, Dialect, Usage
from simulator.exchange import Arrival
from simulator.functions import FunctionCall
from simulator.provider import Json, Problem, Refused

_BINDING = "thinking-binding-controls"  # the beta that has the field
_STOP_REASONS: dict[Ending, str] = {
    "stop": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    body = anthropic_request.read(arrival.body)
    if body.binds_thinking and _BINDING not in arrival.connection.headers.get("anthropic-beta", ""):
        raise Refused(Problem(400, "thinking.block_binding: Extra inputs are not permitted"))
    dialect = Dialect(
        shows_thoughts=body.shows_thoughts,
        blocked_code=None,
        blocked_message="Output blocked by content filtering policy",
    )
    return await chat.respond(arrival, body.chat_request(), lambda chat: _Message(chat, dialect))


class _Message:
    """One answer in Anthropic's form. Its events must be requested in order."""

    def __init__(self, chat: Chat, dialect: Dialect) -> None:
        self._chat = chat
        self._call = chat.exchange.call
        self._answer = chat.answer
        self._index = 0  # of the open block, or of the next one
        self._open: str | None = None  # the type of the open block
        self._calls = 0  # begun so far
        self.dialect = dialect

    def whole(self) -> Json:
        content: list[Json] = []
        if self._answer.reasoning:
            thinking = "".join(self._answer.reasoning) if self.dialect.shows_thoughts else ""
            content.append({"type": "thinking", "thinking": thinking, "signature": self._signature})
        if self._answer.words:
            content.append({"type": "text", "text": self._answer.text})
        for index, call in enumerate(self._answer.calls):
            content.append(self._tool_use(index, call.name, call.object or {}))
        return self._envelope(content) | self._end() | _usage(self._chat.usage())

    def opening(self) -> Iterator[bytes]:
        """The message without content; a pause; the signature of reasoning that is not shown."""
        stop = {"stop_reason": None, "stop_sequence": None}
        message = self._envelope([]) | stop | _usage(self._early())
        yield _event("message_start", message=message)
        yield _event("ping")
        if self._answer.reasoning and not self.dialect.shows_thoughts:
            yield from self._switch_to("thinking")

    def thought(self, text: str) -> Iterator[bytes]:
        yield from self._switch_to("thinking")
        yield self._delta({"type": "thinking_delta", "thinking": text})

    def words(self, tokens: Sequence[str]) -> Iterator[bytes]:
        yield from self._switch_to("text")
        yield self._delta({"type": "text_delta", "text": "".join(tokens)})

    def call(self, call: FunctionCall) -> Iterator[bytes]:
        yield from self._close_block()
        block = self._tool_use(self._calls, call.name, {})
        self._calls += 1
        yield _event("content_block_start", index=self._index, content_block=block)
        self._open = "tool_use"
        yield self._delta({"type": "input_json_delta", "partial_json": ""})

    def arguments(self, call: FunctionCall, tokens: Sequence[str]) -> Iterator[bytes]:
        yield self._delta({"type": "input_json_delta", "partial_json": "".join(tokens)})

    def closing(self) -> Iterator[bytes]:
        yield from self._close_block()
        yield _event("message_delta", delta=self._end(), **_usage(self._chat.usage()))
        yield _event("message_stop")

    def failure(self) -> bytes:
        return event(self._chat.exchange.error(), "error")

    def broken(self) -> bytes:
        return b'event: content_block_delta\ndata: {"type":"content_blo\n\n'

    def _switch_to(self, kind: str) -> Iterator[bytes]:
        """Open a block of this type, unless it is open."""
        if self._open == kind:
            return
        yield from self._close_block()
        empty = {"thinking": "", "signature": ""} if kind == "thinking" else {"text": ""}
        block = {"type": kind} | empty
        yield _event("content_block_start", index=self._index, content_block=block)
        self._open = kind

    def _close_block(self) -> Iterator[bytes]:
        if self._open is None:
            return
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": self._signature})
        yield _event("content_block_stop", index=self._index)
        self._open = None
        self._index += 1

    def _delta(self, delta: Json) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)

    @property
    def _signature(self) -> str:
        return signatures.sign("".join(self._answer.reasoning))

    def _tool_use(self, number: int, name: str, values: Json) -> Json:
        """A call with its id, which differs from those of all other answers."""
        unique = f"toolu_{self._call.id[:22]}{number:02}"
        return {"type": "tool_use", "id": unique, "name": name, "input": values}

    def _early(self) -> Usage | None:
        """The usage that is known when a message starts."""
        usage = self._chat.usage(words=1)
        if usage is None:
            return None
        prompt = 1 if self._chat.exchange.steering.restate_usage else usage.prompt
        return Usage(prompt, min(1, usage.text), 0, usage.cached, usage.cache_written)

    def _end(self) -> Json:
        reason = self._chat.finish(_STOP_REASONS)
        end: Json = {"stop_reason": reason, "stop_sequence": None}
        if reason == "refusal":
            end["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
        return end

    def _envelope(self, content: list[Json]) -> Json:
        return {
            "id": f"msg_{self._call.id}",
            "type": "message",
            "role": "assistant",
            "model": self._call.model,
            "content": content,
        }


def _event(name: str, **fields: object) -> bytes:
    return event({"type": name} | fields, name)


def _usage(usage: Usage | None) -> Json:
    """The input excludes tokens that a cache read or wrote; the output includes the reasoning."""
    if usage is None:
        return {}
    uncached = max(0, usage.prompt - usage.cached - usage.cache_written)
    counts = {
        "input_tokens": uncached,
        "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.text + usage.reasoning,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "service_tier": "standard",
    }
    return {"usage": counts}
