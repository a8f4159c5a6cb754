"""Converts Gemini's answers into our events.

Protocol: Gemini API reference, "GenerateContentResponse", and the guides "Function calling" and
"Thought signatures". Calls come whole, mostly without an id. Those that come where the request has
no tools are skipped.
"""

import secrets

from msgspec import Raw, Struct

from ai.providers import chat_calls
from ai.providers.call_ids import with_state
from ai.providers.error_answers import error_from
from ai.providers.errors import RequestRefused, UpstreamError
from ai.providers.gemini_schema import Candidate, Part, decode_answer
from ai.providers.payloads import (
    Count,
    decode,
    is_given,
    note_counts,
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

# Every other reason, a malformed tool call among them, means that the model gave up.
_FINISH_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}


# No answer within its bound has as many.
_MAX_CALLS = 2**31


class _Usage(Struct, rename="camel"):
    prompt_token_count: Count | None = None
    tool_use_prompt_token_count: Count | None = None
    cached_content_token_count: Raw = Raw()
    candidates_token_count: Count | None = None
    thoughts_token_count: Count | None = None


_decode_usage = usage_decoder(_Usage)


class AnswerReader(chat_calls.AnswerReader):
    """Reads one answer to a request. Only the end of the body marks its end.

    The provider has no field for one call at a time. Where one is asked for, the first call stands
    for the answer: the model asks for the others when it has the result.
    """

    __slots__ = ("_calls", "_gave_up", "_has_content", "_in_form", "_max_calls")

    def __init__(self, request: ChatRequest) -> None:
        super().__init__()
        self._gave_up = False
        self._has_content = False
        self._in_form = request.output is not None
        self._calls = 0
        self._max_calls = _max_calls(request)

    def read(self, payload: bytes, events: list[ChatEvent]) -> None:
        """See `chat_calls.AnswerReader.read`."""
        answer = decode(decode_answer, payload)
        if is_given(answer.error):
            raise error_from(200, payload)
        self._note_usage(answer.usage_metadata)
        if answer.candidates:
            self._read_candidate(answer.candidates[0], events)
        elif answer.is_blocked:
            raise RequestRefused("The provider's moderation refused this prompt.", blocked=True)

    def closing(self) -> list[ChatEvent]:
        """See `chat_calls.AnswerReader.closing`."""
        if self._gave_up and not self._has_content:
            raise UpstreamError("The provider gave up before it answered.")
        if self.finish == "stop" and self._calls:
            self.finish = "tool_calls"
        return super().closing()

    def _read_candidate(self, candidate: Candidate, events: list[ChatEvent]) -> None:
        for part in candidate.parts:
            if part.text and part.thought:
                self._add(ReasoningDelta(part.text), events)
            elif part.text:
                self._add(TextDelta(part.text), events)
                self._has_content = True
            elif part.function_call:
                self._read_call(part, events)
        if reason := candidate.finish_reason:
            self._gave_up = reason not in _FINISH_REASONS
            self.finish = _FINISH_REASONS.get(reason, "stop")
            if self._in_form and self.finish == "content_filter" and candidate.finish_message:
                self._add(RefusalDelta(candidate.finish_message), events)

    def _read_call(self, part: Part, events: list[ChatEvent]) -> None:
        call = part.function_call
        if call is None or not call.name or self._calls >= self._max_calls:
            return
        own = call.id or f"call_{secrets.token_hex(12)}"
        call_id = with_state(own, "g", part.thought_signature or "")
        args = bytes(call.args).decode("utf-8", "replace") if is_given(call.args) else "{}"
        self._add(ToolCallDelta(self._calls, args, call_id, call.name), events)
        self._calls += 1
        self._has_content = True

    def _note_usage(self, raw: Raw) -> None:
        """Every chunk counts from the beginning of the answer."""
        if usage := sensible(_decode_usage, raw):
            note_counts(self._counts, usage)

    @property
    def usage(self) -> Usage | None:
        """See `chat_calls.AnswerReader`.

        Cached tokens are part of the prompt, but thoughts are not part of the candidates. Where
        only the thoughts are counted, although there is more, no output counts as counted.
        """
        counts = self._counts
        if not counts:
            return None
        prompt = counts.get("prompt_token_count", 0) + counts.get("tool_use_prompt_token_count", 0)
        thoughts, text = counts.get("thoughts_token_count", 0), counts.get("candidates_token_count")
        return Usage(
            input_tokens=prompt,
            output_tokens=(text or 0) + thoughts if text or not self._has_content else 0,
            cached_tokens=min(counts.get("cached_content_token_count", 0), prompt),
            reasoning_tokens=thoughts,
        )


def _max_calls(request: ChatRequest) -> int:
    tools = request.tools
    if tools is None or tools.choice == "none":
        return 0
    return _MAX_CALLS if tools.parallel else 1
