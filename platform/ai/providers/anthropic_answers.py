"""Converts Anthropic's answers into our events: the events of a stream, or one whole message.

Protocol: Anthropic's guide "Streaming messages". The blocks of a stream follow one another. Events,
deltas and blocks of other types are skipped, as the protocol asks; so are calls of tools where the
request has none.
"""

import msgspec
from msgspec import Raw, Struct

from ai.providers import chat_calls
from ai.providers.anthropic_request import answer_tool
from ai.providers.anthropic_thinking import Thoughts
from ai.providers.call_ids import with_state
from ai.providers.error_answers import error_from
from ai.providers.payloads import (
    Count,
    decode,
    is_given,
    note_counts,
    sensible,
    usage_decoder,
)
from ai.providers.turns import is_json_object
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

_FINISH_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}  # every other reason is an ordinary stop


class _Type(Struct):
    type: str = ""


class _Block(Struct):
    """The start of a block, or a whole one."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str = ""
    name: str = ""
    input: Raw = Raw()


class _BlockStart(Struct):
    content_block: _Block


class _Delta(Struct):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None


class _BlockDelta(Struct):
    delta: _Delta


class _Start(Struct):
    usage: Raw = Raw()


class _MessageStart(Struct):
    message: _Start


class _StopDetails(Struct):
    explanation: str | None = None


class _Stop(Struct):
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _MessageDelta(Struct):
    delta: _Stop
    usage: Raw = Raw()


class _Message(_Stop):
    content: list[_Block] = []
    usage: Raw = Raw()


class _OutputDetails(Struct):
    thinking_tokens: Count | None = None


class _Usage(Struct):
    input_tokens: Count | None = None
    cache_creation_input_tokens: Raw = Raw()
    cache_read_input_tokens: Raw = Raw()
    output_tokens: Count | None = None
    output_tokens_details: _OutputDetails | None = None


_decode_type = msgspec.json.Decoder(_Type).decode
_decode_block_start = msgspec.json.Decoder(_BlockStart).decode
_decode_block_delta = msgspec.json.Decoder(_BlockDelta).decode
_decode_message_start = msgspec.json.Decoder(_MessageStart).decode
_decode_message_delta = msgspec.json.Decoder(_MessageDelta).decode
_decode_message = msgspec.json.Decoder(_Message).decode
_decode_usage = usage_decoder(_Usage)


# What the input of the last block is, where it is no call: nothing of ours, or the answer.
_NOTHING, _ANSWER = -2, -1


class AnswerReader(chat_calls.AnswerReader):
    """Reads one answer to a request.

    Where the answer is the input of a tool, texts beside it are no part of it. They are kept until
    the end: without that input, an object in JSON is the answer, and any other text declines it.
    """

    __slots__ = (
        "_answer_tool",
        "_calls",
        "_has_answered",
        "_has_input",
        "_in_form",
        "_kept",
        "_takes_calls",
        "_thoughts",
        "_writes",
    )

    def __init__(self, request: ChatRequest) -> None:
        super().__init__()
        self._takes_calls = request.tools is not None and request.tools.choice != "none"
        self._in_form = request.output is not None
        self._answer_tool = answer_tool(request)
        self._has_answered = False
        self._kept: list[str] = []
        self._thoughts = Thoughts()
        self._calls = 0
        self._writes = _NOTHING  # or the index of a call
        self._has_input = False

    def read(self, payload: bytes, events: list[ChatEvent]) -> None:
        """See `chat_calls.AnswerReader.read`."""
        match decode(_decode_type, payload).type:
            case "content_block_delta":
                delta = decode(_decode_block_delta, payload).delta
                if delta.text and not self._answer_tool:
                    self._add(TextDelta(delta.text), events)
                else:
                    self._read_delta(delta, events)
            case "content_block_start":
                self._begin(decode(_decode_block_start, payload).content_block, events)
            case "message_start":
                self._note_usage(decode(_decode_message_start, payload).message.usage)
                # Only a placeholder: the output is counted when it is complete.
                self._counts.pop("output_tokens", None)
            case "message_delta":
                end = decode(_decode_message_delta, payload)
                self._note_end(end.delta, end.usage, events)
            case "message_stop":
                self.done = True
            case "message":
                self._read_message(decode(_decode_message, payload), events)
            case "error" | "":
                raise error_from(200, payload)

    def closing(self) -> list[ChatEvent]:
        """See `chat_calls.AnswerReader.closing`."""
        kept: list[ChatEvent] = []
        if self._kept and self.finish and not self._has_answered:
            self._add_kept("".join(self._kept), kept)
        return kept + self.unpaired() + super().closing()

    def _read_message(self, message: _Message, events: list[ChatEvent]) -> None:
        for block in message.content:
            self._begin(block, events)
        self._note_end(message, message.usage, events)
        self.done = True

    def _read_delta(self, delta: _Delta, events: list[ChatEvent]) -> None:
        if delta.text:
            self._add_text(delta.text, events)
        elif delta.thinking:
            self._thoughts.add(text=delta.thinking)
            self._add(ReasoningDelta(delta.thinking), events)
        elif delta.partial_json:
            self._add_input(delta.partial_json, events)
        elif delta.signature:
            self._thoughts.add(signature=delta.signature)

    def _begin(self, block: _Block, events: list[ChatEvent]) -> None:
        self._end(events)
        if block.thinking:
            self._add(ReasoningDelta(block.thinking), events)
        if block.text:
            self._add_text(block.text, events)
        match block.type:
            case "thinking":
                self._thoughts.add(text=block.thinking or "", signature=block.signature or "")
            case "redacted_thinking" if block.data:
                self._thoughts.add_redacted(block.data)
            case "tool_use":
                self._begin_call(block, events)

    def _begin_call(self, block: _Block, events: list[ChatEvent]) -> None:
        if block.name and block.name == self._answer_tool:
            # Of several answers the first one counts.
            self._writes = _NOTHING if self._has_answered else _ANSWER
            self._has_answered = True
        elif self._takes_calls and block.id and block.name:
            self._writes = self._calls
            self._calls += 1
            call_id = with_state(block.id, "a", self._thoughts.take_state())
            self._add(ToolCallDelta(self._writes, "", call_id, block.name), events)
        if is_given(block.input) and bytes(block.input) != b"{}":
            self._add_input(bytes(block.input).decode("utf-8", "replace"), events)

    def _end(self, events: list[ChatEvent]) -> None:
        """The last block is whole. A tool without parameters is called without any input."""
        self._thoughts.end_block()
        if not self._has_input:
            self._add_input("{}", events)
        self._writes, self._has_input = _NOTHING, False

    def _add_text(self, text: str, events: list[ChatEvent]) -> None:
        if self._answer_tool:
            self._kept.append(text)
        else:
            self._add(TextDelta(text), events)

    def _add_input(self, text: str, events: list[ChatEvent]) -> None:
        self._has_input = True
        if self._writes >= 0:
            self._add(ToolCallDelta(self._writes, text), events)
        elif self._writes == _ANSWER:
            self._add(TextDelta(text), events)

    def _add_kept(self, text: str, events: list[ChatEvent]) -> None:
        if self.finish == "stop" and not is_json_object(text):
            self.finish = "content_filter"
        declines = self.finish == "content_filter"
        self._add(RefusalDelta(text) if declines else TextDelta(text), events)

    def _note_end(self, end: _Stop, usage: Raw, events: list[ChatEvent]) -> None:
        self._note_usage(usage)
        if not end.stop_reason:
            return
        self.finish = _FINISH_REASONS.get(end.stop_reason, "stop")
        if self.finish == "stop":
            self._end(events)
            self.finish = "tool_calls" if self._calls else "stop"
        details = end.stop_details
        if self._in_form and details and details.explanation:
            self._add(RefusalDelta(details.explanation), events)

    def _note_usage(self, raw: Raw) -> None:
        if usage := sensible(_decode_usage, raw):
            note_counts(self._counts, usage)
            if usage.output_tokens_details:
                note_counts(self._counts, usage.output_tokens_details)

    @property
    def usage(self) -> Usage | None:
        """See `chat_calls.AnswerReader`.

        Tokens that were read from a cache, or written to one, are not part of `input_tokens`. Those
        that were written count as any input: we never ask for it, and the hold has no rate above
        that of input.
        """
        counts = self._counts
        if not counts:
            return None
        cached, output = counts.get("cache_read_input_tokens", 0), counts.get("output_tokens", 0)
        written = counts.get("cache_creation_input_tokens", 0)
        return Usage(
            input_tokens=counts.get("input_tokens", 0) + written + cached,
            output_tokens=output,
            cached_tokens=cached,
            reasoning_tokens=min(counts.get("thinking_tokens", 0), output),
        )
