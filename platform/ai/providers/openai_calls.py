"""The tool calls of an OpenAI-compatible answer, whole or in pieces.

The first piece of a call has its id and name, the others text with the same index. Some providers
leave the index out, or write 0 for every call; some repeat the id and the name, or send an empty
name; some write the arguments as an object.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ai.providers.call_ids import with_state
from ai.providers.config import ReasoningField
from ai.providers.openai_messages import STATE_FORMS
from ai.providers.payloads import without_nul
from ai.providers.surrogates import join_halves, unmark_halves
from ai.providers.types import ToolCallDelta
from common.ids import uuid7

_TEXTS = ("text", "summary", "data", "signature")


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class CallPiece(Struct):
    """A piece of a call, or a whole one."""

    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Call(Struct):
    """A call so far: its index for our reader, the provider's id, and whether any of its arguments
    came. Arguments wait for the name, without which a call does not begin."""

    index: int
    id: str = ""
    name: str = ""
    has_arguments: bool = False
    waiting: str = ""


class CallsReader:
    """Reads the tool calls of one answer. The first of them carries the reasoning, where its
    provider wants that back (`back`)."""

    __slots__ = ("_back", "_begun", "_by_index", "_calls", "_details", "_reasoning")

    def __init__(self, back: ReasoningField | None) -> None:
        self._back = back
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._begun = 0
        self._reasoning: list[str] = []
        self._details: list[dict[str, Any]] = []

    @property
    def has_begun(self) -> bool:
        """Has a call begun?"""
        return self._begun > 0

    def note_reasoning(self, text: str) -> None:
        """Keep reasoning that comes before the first call."""
        if self._back and not self._begun:
            self._reasoning.append(text)

    def note_details(self, details: list[dict[str, Any]]) -> None:
        """Keep OpenRouter's details of reasoning: the pieces of one have its index and type."""
        if self._begun:
            return
        for detail in details:
            last = self._details[-1] if self._details else {}
            if detail.get("index") is not None and _kind(detail) == _kind(last):
                _append(last, detail)
            else:
                self._details.append(detail)

    def read(self, piece: CallPiece) -> Iterator[ToolCallDelta]:
        """The deltas that a piece brings."""
        function = piece.function or _Function()
        text, name = _arguments(function.arguments), function.name or ""
        call = self._call_of(piece, name)
        if call.name:
            call.has_arguments = call.has_arguments or bool(text)
            if text:
                yield ToolCallDelta(call.index, text)
            return
        call.id = call.id or piece.id or ""
        call.waiting += text
        if name:
            yield self._begin(call, name)

    def closing(self, *, is_cut: bool) -> list[ToolCallDelta]:
        """No arguments are an empty object, except where the answer was cut before them."""
        complete = self._calls[:-1] if is_cut else self._calls
        return [
            ToolCallDelta(call.index, "{}")
            for call in complete
            if call.name and not call.has_arguments
        ]

    def _call_of(self, piece: CallPiece, name: str) -> _Call:
        if piece.index is not None:
            call = self._by_index.get(piece.index)
        else:
            call = self._calls[-1] if self._calls else None
        if call is None or _is_another(call, piece, name):
            call = _Call(-1)
            self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        return call

    def _begin(self, call: _Call, name: str) -> ToolCallDelta:
        call.index, call.name = self._begun, name
        call.has_arguments = bool(call.waiting)
        own = _whole(call.id) or f"call_{uuid7().hex}"
        marked = own if self._begun else self._with_state(own)
        self._begun += 1
        return ToolCallDelta(call.index, call.waiting, marked, _whole(name))

    def _with_state(self, own: str) -> str:
        if not self._back:
            return own
        if self._back != "reasoning_details":
            state = "".join(self._reasoning)
        else:
            state = msgspec.json.encode(self._details).decode() if self._details else ""
        return with_state(own, STATE_FORMS[self._back], _whole(state))


def _is_another(call: _Call, piece: CallPiece, name: str) -> bool:
    """Does a piece begin a call, although its index is known or missing?"""
    if not (call.name and name):
        return False
    return piece.id != call.id if piece.id else piece.index is None


def _whole(text: str) -> str:
    """A text that is not read on, without what nobody can store: halves of characters, and NUL."""
    return without_nul(join_halves(unmark_halves(text)))


def _arguments(given: Any) -> str:
    if given is None or isinstance(given, str):
        return given or ""
    return msgspec.json.encode(given).decode()


def _kind(detail: dict[str, Any]) -> tuple[Any, Any]:
    return detail.get("index"), detail.get("type")


def _append(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, value in piece.items():
        before = whole.get(key)
        is_text = key in _TEXTS and isinstance(value, str) and isinstance(before, str)
        if is_text:
            whole[key] = before + value
        elif value is not None:
            whole[key] = value
