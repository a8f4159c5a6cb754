"""The events of a reply, which are its stream.

The text travels in `reply.delta` events: `offset` is the number of code points that the reply has
streamed before, reasoning and text in the order of their arrival. `reply.ended` is the last event.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from conversations.types import MAX_DELTA
from events.types import SYSTEM, NewEvent, model_actor

Kind = Literal["text", "reasoning"]


class Piece(NamedTuple):
    """A part of what a reply has streamed."""

    kind: Kind
    text: str


def deltas(model: str, pieces: Iterable[Piece], offset: int) -> list[NewEvent]:
    """Pieces of which the first begins at code point `offset`, in events of bounded size."""
    told: list[NewEvent] = []
    for kind, text in pieces:
        for start in range(0, len(text), MAX_DELTA):
            part = text[start : start + MAX_DELTA]
            data = {"offset": offset, "kind": kind, "text": part}
            told.append(NewEvent("reply.delta", data, model_actor(model)))
            offset += len(part)
    return told


def title(words: str) -> NewEvent:
    """The conversation has been given a title."""
    return NewEvent("reply.title", {"title": words})


def ended(message: dict[str, Any] | None) -> NewEvent:
    """The reply has ended: as REST shows it, without its texts; None where its conversation was
    deleted meanwhile."""
    actor = SYSTEM if message is None else model_actor(message["model"])
    return NewEvent("reply.ended", {"message": message}, actor)
