"""Gemini's `:generateContent` and `:streamGenerateContent`: usage grows from chunk to chunk."""

from collections.abc import Iterator

from simulator import chat, gemini_images, gemini_request, vendor_usage
from simulator.answer import Ending
from simulator.chat_stream import event
from simulator.chat_types import Chat, Habits, Spent
from simulator.exchange import Arrival
from simulator.provider import Json, Problem, Refused

_SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzaW11bGF0b3I="
_FINISH_REASONS: dict[Ending, str] = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


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
    habits = Habits(shows_thoughts=body.thinking.include_thoughts, tells_blocks=True, crlf=True)
    return await chat.respond(
        arrival, body.asked(model, stream=streams), lambda answered: _Content(answered, habits)
    )


class _Content:
    """One answer in Gemini's form."""

    def __init__(self, answered: Chat, habits: Habits) -> None:
        self._chat = answered
        self._call = answered.exchange.call
        self._answer = answered.answer
        self._said = 0  # words so far
        self.habits = habits

    def whole(self) -> Json:
        if self._answer.ending == "blocked":
            return self._blocked()
        parts: list[Json] = []
        if self._answer.reasoning and self.habits.shows_thoughts:
            parts.append({"text": "".join(self._answer.reasoning), "thought": True})
        if self._answer.words:
            parts.append({"text": self._answer.text} | self._signature())
        return self._response(parts, self._chat.spent(), self._chat.finish(_FINISH_REASONS))

    def opening(self) -> Iterator[bytes]:
        """A stream begins with its first part."""
        return iter(())

    def thought(self, token: str) -> Iterator[bytes]:
        yield event(self._response([{"text": token, "thought": True}], self._so_far()))

    def word(self, token: str) -> Iterator[bytes]:
        self._said += 1
        yield event(self._response([{"text": token}], self._so_far()))

    def closing(self) -> Iterator[bytes]:
        """The finish reason, on an empty part if there was any text."""
        if self._answer.ending == "blocked":
            yield event(self._blocked())
            return
        parts: list[Json] = [{"text": ""} | self._signature()] if self._answer.words else []
        reason = self._chat.finish(_FINISH_REASONS)
        yield event(self._response(parts, self._chat.spent(), reason))

    def failure(self) -> bytes:
        return event(self._chat.exchange.error())

    def broken(self) -> bytes:
        return b'data: {"candidates": [{"content\n\n'

    def _blocked(self) -> Json:
        feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
        return feedback | self._metadata(self._chat.spent())

    def _so_far(self) -> Spent | None:
        spent = self._chat.spent(self._said)
        if spent is None or not self._chat.exchange.steering.restate_usage:
            return spent
        return Spent(1, spent.text, 0)

    def _signature(self) -> Json:
        return {"thoughtSignature": _SIGNATURE} if self._answer.reasoning else {}

    def _response(self, parts: list[Json], spent: Spent | None, reason: str | None = None) -> Json:
        content: Json = {"role": "model"} | ({"parts": parts} if parts else {})
        candidate: Json = {"content": content, "index": 0}
        if reason is not None:
            candidate["finishReason"] = reason
        return {"candidates": [candidate]} | self._metadata(spent)

    def _metadata(self, spent: Spent | None) -> Json:
        named = {"modelVersion": self._call.model, "responseId": self._call.id}
        return named if spent is None else {"usageMetadata": vendor_usage.gemini(spent)} | named
