"""What a streamed call brings."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from common.errors import DomainError
from events.types import NewEvent
from inference.errors import CallCancelled, NoText, error_of
from providers.types import Delta, FinishReason, TextDelta

Kind = Literal["text", "reasoning"]
Status = Literal["completed", "failed", "cancelled"]

# The longest time that a call may take.
TOTAL_SECONDS = 900.0
# Code points in one event, so that an event stays small whatever comes.
MAX_PIECE = 16_000


class Piece(NamedTuple):
    """A part of what a call has streamed."""

    kind: Kind
    text: str


class Text(NamedTuple):
    """All that a call has written."""

    content: str = ""
    reasoning: str = ""


class Completion(Struct, frozen=True, kw_only=True):
    """What a call has brought in all. With a `failure` the text is no finished answer.

    `details` are of the app's own; `unsent` are the events of what the stream does not have yet.
    """

    content: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    failure: DomainError | None = None
    details: dict[str, Any] = {}
    unsent: Sequence[NewEvent] = ()

    @property
    def status(self) -> Status:
        return status_of(self.failure)

    @property
    def error(self) -> dict[str, Any] | None:
        """What went wrong. Nothing did where the user has cancelled the call."""
        if self.failure is None or self.status == "cancelled":
            return None
        return error_of(self.failure)

    @property
    def reason(self) -> str:
        """Why a finished answer ends where it does."""
        return self.finish_reason if self.failure is None else ""


def completion_of(
    content: str, *, reasoning: str = "", finish_reason: FinishReason, failure: DomainError | None
) -> Completion:
    """What a call has brought that ended by itself (`failure` is None) or failed. One that ended by
    itself without any text has failed."""
    if failure is None and not content.strip():
        failure = NoText(finish_reason=finish_reason)
    return Completion(
        content=content, reasoning=reasoning, finish_reason=finish_reason, failure=failure
    )


def status_of(failure: DomainError | None) -> Status:
    """How a call has ended that failed so, or did not fail."""
    if failure is None:
        return "completed"
    return "cancelled" if isinstance(failure, CallCancelled) else "failed"


def pieces_of(deltas: Iterable[Delta]) -> list[Piece]:
    """Deltas in order, neighbours of a kind joined."""
    return [
        Piece("text" if kind is TextDelta else "reasoning", "".join(each.text for each in same))
        for kind, same in groupby(deltas, key=type)
    ]


def cut(pieces: Iterable[Piece], offset: int) -> Iterator[tuple[int, Piece]]:
    """Pieces of bounded length, each with the code point at which it begins: the first at
    `offset`."""
    for kind, text in pieces:
        for start in range(0, len(text), MAX_PIECE):
            piece = Piece(kind, text[start : start + MAX_PIECE])
            yield offset, piece
            offset += len(piece.text)
