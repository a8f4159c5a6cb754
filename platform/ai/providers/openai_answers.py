"""Converts the answers of OpenAI-compatible providers into our events.

One chunk of a stream and a whole plain answer differ by a field's name, so one reader reads both.
It reads all known variants, from every provider: reasoning under two names, content as an array,
usage in three places.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from ai.providers import chat_calls
from ai.providers.config import Flags
from ai.providers.error_answers import error_from
from ai.providers.errors import UpstreamError
from ai.providers.openai_calls import CallPiece, CallsReader
from ai.providers.payloads import (
    Count,
    decode,
    is_given,
    note_counts,
    partial_count,
    sensible,
    usage_decoder,
)
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

DONE = b"[DONE]"

_FINISH_REASONS: dict[str, FinishReason] = {
    "length": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "refusal": "content_filter",
}  # every other reason is an ordinary stop, or the end of tool calls where some came
_FAILURES = frozenset({"error", "insufficient_system_resource", "network_error"})


class _Part(Struct):
    type: str = ""
    text: str = ""
    thinking: list["_Part"] = []


class _Delta(Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _DeltaWithCalls(_Delta):
    tool_calls: list[CallPiece] | None = None
    reasoning_details: Raw = Raw()


AnyDelta = TypeVar("AnyDelta", bound=_Delta)


class _Choice(Struct, Generic[AnyDelta]):
    delta: AnyDelta | None = None
    message: AnyDelta | None = None
    finish_reason: str | None = None
    usage: Raw = Raw()


class _Groq(Struct):
    usage: Raw = Raw()


class _Answer(Struct, Generic[AnyDelta]):
    object: str | None = None
    choices: list[_Choice[AnyDelta]] | None = None
    usage: Raw = Raw()
    x_groq: _Groq | None = None
    error: Raw = Raw()
    code: Raw = Raw()


class _PromptDetails(Struct):
    cached_tokens: Raw = Raw()


class _CompletionDetails(Struct):
    reasoning_tokens: Count | None = None


class _Usage(Struct):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: Raw = Raw()
    completion_tokens_details: _CompletionDetails | None = None
    cached_tokens: Raw = Raw()  # Moonshot, Together
    num_cached_tokens: Raw = Raw()  # Mistral
    prompt_cache_hit_tokens: Raw = Raw()  # DeepSeek


_decode_answer = msgspec.json.Decoder(_Answer[_Delta]).decode
_decode_answer_with_calls = msgspec.json.Decoder(_Answer[_DeltaWithCalls]).decode
_decode_details = msgspec.json.Decoder(list[dict[str, Any]]).decode
_decode_usage = usage_decoder(_Usage)
_decode_prompt_details = msgspec.json.Decoder(_PromptDetails).decode


class AnswerReader(chat_calls.AnswerReader, Generic[AnyDelta]):
    """Reads one answer to a call without tools; calls in it are left out."""

    __slots__ = ("_decode", "_reasoning_added", "_refusal", "_refused")

    def __init__(
        self,
        request: ChatRequest,
        flags: Flags,
        decoder: Callable[[bytes], _Answer[Any]] = _decode_answer,
    ) -> None:
        super().__init__()
        self._decode = decoder
        self._reasoning_added = flags.reasoning_added_to_completion
        self._refusal = RefusalDelta if request.output else TextDelta
        self._refused = False

    @property
    def usage(self) -> Usage | None:
        return Usage(**self._counts) if self._counts else None

    def read(self, payload: bytes, events: list[ChatEvent]) -> None:
        """Append the deltas of one payload to `events`.

        Raises the ProviderError of an error payload, and UpstreamError for a malformed one.
        """
        if payload == DONE:
            self.done = True
            return
        answer = decode(self._decode, payload)
        if _is_error(answer):
            raise error_from(200, payload)
        self._note_usage(answer.usage)
        if answer.x_groq:
            self._note_usage(answer.x_groq.usage)
        if answer.choices:
            self._read_choice(answer.choices[0], events)

    def closing(self) -> list[ChatEvent]:
        """See `chat_calls.AnswerReader.closing`."""
        if self.finish and self._refused:
            self.finish = "content_filter"
        return super().closing()

    def _read_choice(self, choice: _Choice[AnyDelta], events: list[ChatEvent]) -> None:
        if delta := choice.delta or choice.message:
            self._read_delta(delta, events)
        self._note_usage(choice.usage)
        if reason := choice.finish_reason:
            if reason in _FAILURES:
                raise UpstreamError("The provider gave up in the middle of its answer.")
            self.finish = _FINISH_REASONS.get(reason, "stop")

    def _read_delta(self, delta: AnyDelta, events: list[ChatEvent]) -> None:
        if reasoning := delta.reasoning_content or delta.reasoning:
            self._add(ReasoningDelta(reasoning), events)
        if isinstance(delta.content, list):
            self._read_parts(delta.content, events)
        elif delta.content:
            self._add(TextDelta(delta.content), events)
        if delta.refusal:
            self._refused = True
            self._add(self._refusal(delta.refusal), events)

    def _read_parts(self, parts: list[_Part], events: list[ChatEvent]) -> None:
        for part in parts:
            if thought := "".join(inner.text for inner in part.thinking):
                self._add(ReasoningDelta(thought), events)
            if part.text:
                self._add(TextDelta(part.text), events)

    def _note_usage(self, raw: Raw) -> None:
        """Malformed usage counts as missing."""
        usage = sensible(_decode_usage, raw)
        if usage and (usage.prompt_tokens is not None or usage.completion_tokens is not None):
            note_counts(self._counts, self._normalised(usage))

    def _normalised(self, usage: _Usage) -> Usage:
        completion = usage.completion_tokens_details
        reasoning = (completion.reasoning_tokens if completion else None) or 0
        output = (usage.completion_tokens or 0) + (reasoning if self._reasoning_added else 0)
        return Usage(
            input_tokens=usage.prompt_tokens or 0,
            output_tokens=output,
            cached_tokens=min(_cached(usage), usage.prompt_tokens or 0),
            reasoning_tokens=min(reasoning, output),
        )


class AnswerWithCallsReader(AnswerReader[_DeltaWithCalls]):
    """Reads one answer to a call with tools. Where one call at a time was asked for, the first is
    told alone: not every provider limits them."""

    __slots__ = ("_calls", "_is_parallel")

    def __init__(self, request: ChatRequest, flags: Flags) -> None:
        super().__init__(request, flags, _decode_answer_with_calls)
        self._calls = CallsReader(flags.reasoning_back)
        self._is_parallel = request.tools is None or request.tools.parallel

    def closing(self) -> list[ChatEvent]:
        """See `chat_calls.AnswerReader.closing`."""
        if self.finish == "stop" and self._calls.has_begun:
            self.finish = "tool_calls"
        end = super().closing()
        rest = self._calls.closing(is_cut=self.finish != "tool_calls")
        return [*filter(self._is_told, rest), *end]

    def _read_delta(self, delta: _DeltaWithCalls, events: list[ChatEvent]) -> None:
        super()._read_delta(delta, events)
        if reasoning := delta.reasoning_content or delta.reasoning:
            self._calls.note_reasoning(reasoning)
        if details := sensible(_decode_details, delta.reasoning_details):
            self._calls.note_details(details)
        for piece in delta.tool_calls or ():
            for call_delta in self._calls.read(piece):
                if self._is_told(call_delta):
                    self._add(call_delta, events)

    def _is_told(self, delta: ToolCallDelta) -> bool:
        return self._is_parallel or delta.index == 0


def answer_reader(request: ChatRequest, flags: Flags) -> AnswerReader[Any]:
    """The reader of the answer to a request."""
    return (AnswerWithCallsReader if request.tools else AnswerReader)(request, flags)


def _is_error(answer: _Answer[Any]) -> bool:
    flat = answer.object == "error" or (answer.choices is None and is_given(answer.code))
    return flat or is_given(answer.error)


def _cached(usage: _Usage) -> int:
    """Those of the prompt that came from a cache, by any of their names; a name may be there with
    zero beside the one that counts."""
    details = sensible(_decode_prompt_details, usage.prompt_tokens_details)
    named = (usage.cached_tokens, usage.num_cached_tokens, usage.prompt_cache_hit_tokens)
    told = [partial_count(each) for each in ((details.cached_tokens if details else Raw()), *named)]
    return next((count for count in told if count), 0)
