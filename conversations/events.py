"""The events of a reply, which are its stream.

The text travels in `reply.delta` events: `offset` is the number of code points that the reply has
streamed before, reasoning and text in the order of their arrival. `reply.ended` is the last event.
"""

from collections.abc import Iterable
from typing import Any

from ai.generations.types import Piece, cut
from events.types import SYSTEM, NewEvent, model_actor


def deltas(model: str, pieces: Iterable[Piece], offset: int) -> list[NewEvent]:
    """Pieces of which the first begins at code point `offset`, in events of bounded size."""
    actor = model_actor(model)
    return [
        NewEvent("reply.delta", {"offset": start, "kind": kind, "text": text}, actor)
        for start, (kind, text) in cut(pieces, offset)
    ]


def title(words: str) -> NewEvent:
    """The conversation has been given a title."""
    return NewEvent("reply.title", {"title": words})


def ended(message: dict[str, Any] | None) -> NewEvent:
    """The reply has ended: as REST shows it, without its texts; None where its conversation was
    deleted meanwhile."""
    actor = SYSTEM if message is None else model_actor(message["model"])
    return NewEvent("reply.ended", {"message": message}, actor)
