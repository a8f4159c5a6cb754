"""OpenAI's `POST /v1/chat/completions`, in the dialect of each vendor."""

from collections.abc import Iterator, Sequence

from simulator import chat, openai_request, vendors
from simulator.answer import Ending
from simulator.chat_stream import event, line
from simulator.chat_types import Chat, Dialect
from simulator.exchange import Arrival
from simulator.functions import FunctionCall
from simulator.openai_request import ChatBody
from simulator.provider import Json
from simulator.vendors import Vendor

_CHUNK = "chat.completion.chunk"


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    vendor = vendors.named(arrival.call.provider)
    body = openai_request.read(arrival.body, vendor)
    return await chat.respond(
        arrival,
        body.chat_request(vendor),
        lambda chat: _Completion(chat, vendor, body),
    )


class _Completion:
    """One answer in OpenAI's form, in the dialect of a vendor."""

    def __init__(self, chat: Chat, vendor: Vendor, body: ChatBody) -> None:
        self._chat = chat
        self._call = chat.exchange.call
        self._vendor = vendor
        self._include_usage = body.include_usage
        self._calls = 0  # begun so far
        self._declines = vendor.declines and body.has_form and chat.answer.ending == "refusal"

    @property
    def dialect(self) -> Dialect:
        return self._vendor.dialect

    def whole(self) -> Json:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "refusal": None, "annotations": []} | self._message(),
            "logprobs": None,
            "finish_reason": self._finish,
        }
        return self._envelope("chat.completion", [choice]) | self._usage()

    def opening(self) -> Iterator[bytes]:
        chunk = self._chunk({"role": "assistant", "content": "", "refusal": None})
        if self._vendor.x_groq:
            chunk["x_groq"] = {"id": self._call.request_id}
        yield event(chunk)

    def thought(self, text: str) -> Iterator[bytes]:
        yield event(self._chunk(self._thought(text)))

    def words(self, tokens: Sequence[str]) -> Iterator[bytes]:
        field = "refusal" if self._declines else "content"
        yield event(self._chunk({field: "".join(tokens)}))

    def call(self, call: FunctionCall) -> Iterator[bytes]:
        """The name comes first, with empty arguments."""
        self._calls += 1
        entry = self._entry(self._calls - 1, call.name, "")
        yield event(self._chunk({"tool_calls": [{"index": self._calls - 1} | entry]}))

    def arguments(self, call: FunctionCall, tokens: Sequence[str]) -> Iterator[bytes]:
        piece = {"index": self._calls - 1, "function": {"arguments": "".join(tokens)}}
        yield event(self._chunk({"tool_calls": [piece]}))

    def closing(self) -> Iterator[bytes]:
        """The finish reason, the usage where the vendor puts it, the end."""
        usage, finish = self._usage(), self._chunk({}, self._finish)
        if self._vendor.usage_chunk == "finish":
            finish |= usage
        if self._vendor.usage_chunk == "choice":
            finish["choices"][0] |= usage
        if self._vendor.x_groq:
            finish["x_groq"] = {"id": self._call.request_id} | usage
        yield event(finish)
        if self._sends_usage_chunk and usage:
            yield event(self._envelope(_CHUNK, []) | usage)
        yield line(b"[DONE]")

    def failure(self) -> bytes:
        error = self._chat.exchange.error()
        if self._vendor.error_with_choices:
            error = self._chunk({"content": ""}, "error") | error
        return event(error)

    def broken(self) -> bytes:
        return line(b'{"id":"chatcmpl-')

    @property
    def _finish(self) -> str:
        words: dict[Ending, str] = {"stop": "stop", "length": "length", "calls": "tool_calls"}
        refusal = "stop" if self._declines else self._vendor.filtered
        return self._chat.finish(words | {"refusal": refusal})

    @property
    def _sends_usage_chunk(self) -> bool:
        return self._vendor.usage_chunk == "own" and self._include_usage

    def _message(self) -> Json:
        """The whole text and, where the vendor shows it, the reasoning."""
        answer = self._chat.answer
        if self._declines:
            return {"content": None, "refusal": answer.text}
        message: Json = {"content": answer.text}
        if answer.calls:
            calls = enumerate(answer.calls)
            entries = [self._entry(index, call.name, call.text) for index, call in calls]
            message = {"content": answer.text or None, "tool_calls": entries}
        if not answer.reasoning or not self.dialect.shows_thoughts:
            return message
        thought = self._thought("".join(answer.reasoning))
        if self._vendor.reasoning == "content":
            text = [{"type": "text", "text": answer.text}]
            return message | {"content": [*thought["content"], *text]}
        return message | thought

    def _entry(self, index: int, name: str, arguments: str) -> Json:
        """A call with its id, which differs from those of all other answers."""
        unique = f"{self._call.id[:7]}{index:02}"
        call_id = unique if self._vendor.short_ids else f"call_{self._call.id[7:22]}{unique}"
        function = {"name": name, "arguments": arguments}
        return {"id": call_id, "type": "function", "function": function}

    def _thought(self, text: str) -> Json:
        if self._vendor.reasoning == "content":
            thinking = [{"type": "text", "text": text}]
            return {"content": [{"type": "thinking", "thinking": thinking}]}
        return {self._vendor.reasoning: text}

    def _usage(self) -> Json:
        usage = self._chat.usage()
        return {} if usage is None else {"usage": self._vendor.usage(usage)}

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = self._envelope(_CHUNK, [choice])
        if self._sends_usage_chunk:
            chunk["usage"] = None
        return chunk

    def _envelope(self, kind: str, choices: list[Json]) -> Json:
        """The fields of every body and chunk around its choices."""
        return {
            "id": f"chatcmpl-{self._call.id}",
            "object": kind,
            "created": self._chat.created,
            "model": self._call.model,
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": choices,
        }
