"""The results of streamed calls."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from ai.inference.errors import CallCancelled, NoText, error_of
from ai.providers.types import Delta, FinishReason, TextDelta, ToolCall
from common.errors import DomainError
from events.types import NewEvent

Kind = Literal["text", "reasoning"]
Status = Literal["completed", "failed", "cancelled"]

# Seconds that a call may take at most.
TOTAL_SECONDS = 900.0
# Code points in one event at most, so that events stay small however long the deltas are.
MAX_PIECE = 16_000


class Piece(NamedTuple):
    """A part of the output of a call."""

    kind: Kind
    text: str


class Text(NamedTuple):
    """The whole output of a call."""

    content: str = ""
    reasoning: str = ""


class Completion(Struct, frozen=True, kw_only=True):
    """The result of a call. With a `failure`, the text is not a finished answer.

    `tool_calls` are those that the model asks for; `details` are data of the app; `unsent` are the
    events that are not in the stream yet.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    failure: DomainError | None = None
    details: dict[str, Any] = {}
    unsent: Sequence[NewEvent] = ()

    @property
    def status(self) -> Status:
        return status_of(self.failure)

    @property
    def error(self) -> dict[str, Any] | None:
        """The error of the call; None for a call that the user has cancelled."""
        if self.failure is None or self.status == "cancelled":
            return None
        return error_of(self.failure)

    @property
    def reason(self) -> str:
        """Why a finished answer ends."""
        return self.finish_reason if self.failure is None else ""


def completion_of(
    content: str,
    *,
    reasoning: str = "",
    finish_reason: FinishReason,
    failure: DomainError | None,
    tool_calls: tuple[ToolCall, ...] = (),
) -> Completion:
    """The result of a call that ended by itself (`failure` is None) or failed. A call that ended by
    itself without any text, and asks for no tool, has failed."""
    if failure is None and not content.strip() and not tool_calls:
        failure = NoText(finish_reason=finish_reason)
    return Completion(
        content=content,
        reasoning=reasoning,
        tool_calls=tool_calls,
        finish_reason=finish_reason,
        failure=failure,
    )


def status_of(failure: DomainError | None) -> Status:
    """The status of a call that ended with this failure, or with none."""
    if failure is None:
        return "completed"
    return "cancelled" if isinstance(failure, CallCancelled) else "failed"


def pieces_of(deltas: Iterable[Delta]) -> list[Piece]:
    """Deltas in order; neighbours of one kind are joined."""
    return [
        Piece("text" if kind is TextDelta else "reasoning", "".join(each.text for each in same))
        for kind, same in groupby(deltas, key=type)
    ]


def cut(pieces: Iterable[Piece], offset: int) -> Iterator[tuple[int, Piece]]:
    """Pieces of bounded length, each with the code point at which the piece begins; the first piece
    begins at `offset`."""
    for kind, text in pieces:
        for start in range(0, len(text), MAX_PIECE):
            piece = Piece(kind, text[start : start + MAX_PIECE])
            yield offset, piece
            offset += len(piece.text)
