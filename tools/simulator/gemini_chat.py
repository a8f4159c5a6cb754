"""Gemini's `:generateContent` and `:streamGenerateContent`: usage grows from chunk to chunk."""

from collections.abc import Iterator, Sequence

from simulator import chat, gemini_images, gemini_request, signatures, vendor_usage
from simulator.answer import Ending
from simulator.chat_stream import event
from simulator.chat_types import Chat, Dialect, Usage
from simulator.exchange import Arrival
from simulator.functions import FunctionCall
from simulator.provider import Json, Problem, Refused

_FINISH_REASONS: dict[Ending, str] = {
    "stop": "STOP",
    "calls": "STOP",
    "length": "MAX_TOKENS",
    "refusal": "SAFETY",
}


async def whole(arrival: Arrival) -> str:
    """Answer one call with one body and return the outcome. Raises `Refused`, `CallerGone`."""
    return await _respond(arrival, streams=False)


async def stream(arrival: Arrival) -> str:
    """Answer one call with events and return the outcome. Raises `Refused`, `CallerGone`."""
    if arrival.connection.query.get("alt") != "sse":
        raise Refused(Problem(400, "The simulator streams only with ?alt=sse."))
    return await _respond(arrival, streams=True)


async def _respond(arrival: Arrival, *, streams: bool) -> str:
    model = arrival.path["model"]
    body = gemini_request.read(arrival.body, model)
    if body.wants_image:
        if streams:
            raise Refused(Problem(400, "The simulator sends pictures only in whole answers."))
        return await gemini_images.respond(arrival, body)
    dialect = Dialect(
        shows_thoughts=body.thinking.include_thoughts,
        answers_blocked_prompts=True,
        crlf=True,
        whole_calls=True,
    )
    return await chat.respond(
        arrival, body.chat_request(model, stream=streams), lambda chat: _Content(chat, dialect)
    )


class _Content:
    """One answer in Gemini's form."""

    def __init__(self, chat: Chat, dialect: Dialect) -> None:
        self._chat = chat
        self._call = chat.exchange.call
        self._answer = chat.answer
        self._words_sent = 0  # words so far, and those of arguments
        self._calls = 0  # sent so far
        self.dialect = dialect

    def whole(self) -> Json:
        if self._answer.ending == "blocked":
            return self._blocked()
        parts: list[Json] = []
        if self._answer.reasoning and self.dialect.shows_thoughts:
            parts.append({"text": "".join(self._answer.reasoning), "thought": True})
        if self._answer.words:
            parts.append({"text": self._answer.text} | self._signature())
        parts += [part for call in self._answer.calls for part in self._call_part(call)]
        return self._response(parts, self._chat.usage(), self._finish)

    def opening(self) -> Iterator[bytes]:
        """A stream begins with its first part."""
        return iter(())

    def thought(self, text: str) -> Iterator[bytes]:
        yield event(self._response([{"text": text, "thought": True}], self._so_far()))

    def words(self, tokens: Sequence[str]) -> Iterator[bytes]:
        self._words_sent += len(tokens)
        yield event(self._response([{"text": "".join(tokens)}], self._so_far()))

    def call(self, call: FunctionCall) -> Iterator[bytes]:
        """A call has no beginning of its own."""
        return iter(())

    def arguments(self, call: FunctionCall, tokens: Sequence[str]) -> Iterator[bytes]:
        self._words_sent += len(tokens)
        if parts := self._call_part(call):
            yield event(self._response(parts, self._so_far()))

    def closing(self) -> Iterator[bytes]:
        """The finish reason, on an empty part if there was anything else."""
        if self._answer.ending == "blocked":
            yield event(self._blocked())
            return
        parts: list[Json] = [{"text": ""} | self._signature()] if self._answer.spoken else []
        reason = self._finish
        yield event(self._response(parts, self._chat.usage(), reason))

    def failure(self) -> bytes:
        return event(self._chat.exchange.error())

    def broken(self) -> bytes:
        return b'data: {"candidates": [{"content\n\n'

    def _blocked(self) -> Json:
        feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
        return feedback | self._metadata(self._chat.usage())

    def _so_far(self) -> Usage | None:
        usage = self._chat.usage(self._words_sent)
        if usage is None or not self._chat.exchange.steering.restate_usage:
            return usage
        return Usage(1, usage.text, 0)

    @property
    def _finish(self) -> str:
        answer = self._chat.answer
        if answer.ending == "calls" and any(call.object is None for call in answer.calls):
            return self._chat.finish(_FINISH_REASONS | {"calls": "MALFORMED_FUNCTION_CALL"})
        return self._chat.finish(_FINISH_REASONS)

    def _call_part(self, call: FunctionCall) -> list[Json]:
        """The part of a call; none where it was cut, or is malformed. The first has a signature."""
        values = call.object
        if values is None or not call.is_whole:
            return []
        self._calls += 1
        named = {"id": f"{self._call.id[:6]}{self._calls:02}", "name": call.name, "args": values}
        signature = {"thoughtSignature": signatures.sign(call.name + call.text)}
        return [{"functionCall": named} | (signature if self._calls == 1 else {})]

    def _signature(self) -> Json:
        if not self._answer.reasoning:
            return {}
        return {"thoughtSignature": signatures.sign("".join(self._answer.reasoning))}

    def _response(self, parts: list[Json], usage: Usage | None, reason: str | None = None) -> Json:
        content: Json = {"role": "model"} | ({"parts": parts} if parts else {})
        candidate: Json = {"content": content, "index": 0}
        if reason is not None:
            candidate["finishReason"] = reason
        return {"candidates": [candidate]} | self._metadata(usage)

    def _metadata(self, usage: Usage | None) -> Json:
        named = {"modelVersion": self._call.model, "responseId": self._call.id}
        return named if usage is None else {"usageMetadata": vendor_usage.gemini(usage)} | named
