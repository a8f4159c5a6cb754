"""Converts Anthropic's answers into our events: the events of a stream, or one whole message.

Events, deltas and blocks of other types are skipped, as the protocol asks.
"""

import msgspec
from msgspec import Raw, Struct

from ai.providers import chat_calls
from ai.providers.error_answers import error_from
from ai.providers.payloads import (
    Count,
    decode,
    note_counts,
    sensible,
    usage_decoder,
)
from ai.providers.types import ChatEvent, FinishReason, ReasoningDelta, TextDelta, Usage

_FINISH_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}  # every other reason is an ordinary stop


class _Type(Struct):
    type: str = ""


class _Piece(Struct):
    """The start of a block, a whole block, or the addition of a delta."""

    text: str | None = None
    thinking: str | None = None


class _BlockStart(Struct):
    content_block: _Piece


class _BlockDelta(Struct):
    delta: _Piece


class _Start(Struct):
    usage: Raw = Raw()


class _MessageStart(Struct):
    message: _Start


class _Stop(Struct):
    stop_reason: str | None = None


class _MessageDelta(Struct):
    delta: _Stop
    usage: Raw = Raw()


class _Message(Struct):
    content: list[_Piece] = []
    stop_reason: str | None = None
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


class AnswerReader(chat_calls.AnswerReader):
    """Reads one answer."""

    __slots__ = ()

    def read(self, payload: bytes, events: list[ChatEvent]) -> None:
        """See `chat_calls.AnswerReader.read`."""
        match decode(_decode_type, payload).type:
            case "content_block_delta":
                self._read_piece(decode(_decode_block_delta, payload).delta, events)
            case "content_block_start":
                self._read_piece(decode(_decode_block_start, payload).content_block, events)
            case "message_start":
                self._note_usage(decode(_decode_message_start, payload).message.usage)
                # Only a placeholder: the output is counted when it is complete.
                self._counts.pop("output_tokens", None)
            case "message_delta":
                end = decode(_decode_message_delta, payload)
                self._note_end(end.delta.stop_reason, end.usage)
            case "message_stop":
                self.done = True
            case "message":
                self._read_message(decode(_decode_message, payload), events)
            case "error" | "":
                raise error_from(200, payload)

    def _read_message(self, message: _Message, events: list[ChatEvent]) -> None:
        for piece in message.content:
            self._read_piece(piece, events)
        self._note_end(message.stop_reason, message.usage)
        self.done = True

    def _read_piece(self, piece: _Piece, events: list[ChatEvent]) -> None:
        if piece.thinking:
            self._add(ReasoningDelta(piece.thinking), events)
        if piece.text:
            self._add(TextDelta(piece.text), events)

    def _note_end(self, reason: str | None, usage: Raw) -> None:
        self._note_usage(usage)
        if reason:
            self.finish = _FINISH_REASONS.get(reason, "stop")

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
