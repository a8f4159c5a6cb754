"""Converts Gemini's answers into our events."""

from msgspec import Raw, Struct

from ai.providers import chat_calls
from ai.providers.error_answers import error_from
from ai.providers.errors import RequestRefused, UpstreamError
from ai.providers.gemini_schema import Candidate, decode_answer
from ai.providers.payloads import (
    Count,
    decode,
    is_given,
    note_counts,
    sensible,
    usage_decoder,
)
from ai.providers.types import ChatEvent, FinishReason, ReasoningDelta, TextDelta, Usage

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


class _Usage(Struct, rename="camel"):
    prompt_token_count: Count | None = None
    tool_use_prompt_token_count: Count | None = None
    cached_content_token_count: Raw = Raw()
    candidates_token_count: Count | None = None
    thoughts_token_count: Count | None = None


_decode_usage = usage_decoder(_Usage)


class AnswerReader(chat_calls.AnswerReader):
    """Reads one answer. Only the end of the body marks its end."""

    __slots__ = ("_gave_up", "_has_text")

    def __init__(self) -> None:
        super().__init__()
        self._gave_up = False
        self._has_text = False

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
        if self._gave_up and not self._has_text:
            raise UpstreamError("The provider gave up before it answered.")
        return super().closing()

    def _read_candidate(self, candidate: Candidate, events: list[ChatEvent]) -> None:
        for part in candidate.parts:
            if not part.text:
                continue
            if part.thought:
                self._add(ReasoningDelta(part.text), events)
            else:
                self._add(TextDelta(part.text), events)
                self._has_text = True
        if reason := candidate.finish_reason:
            self._gave_up = reason not in _FINISH_REASONS
            self.finish = _FINISH_REASONS.get(reason, "stop")

    def _note_usage(self, raw: Raw) -> None:
        """Every chunk counts from the beginning of the answer."""
        if usage := sensible(_decode_usage, raw):
            note_counts(self._counts, usage)

    @property
    def usage(self) -> Usage | None:
        """See `chat_calls.AnswerReader`.

        Cached tokens are part of the prompt, but thoughts are not part of the candidates. Where
        only the thoughts are counted, although there is text, no output counts as counted.
        """
        counts = self._counts
        if not counts:
            return None
        prompt = counts.get("prompt_token_count", 0) + counts.get("tool_use_prompt_token_count", 0)
        thoughts, text = counts.get("thoughts_token_count", 0), counts.get("candidates_token_count")
        return Usage(
            input_tokens=prompt,
            output_tokens=(text or 0) + thoughts if text or not self._has_text else 0,
            cached_tokens=min(counts.get("cached_content_token_count", 0), prompt),
            reasoning_tokens=thoughts,
        )
