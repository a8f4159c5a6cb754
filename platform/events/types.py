"""What is written to a stream, and how it is read."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import Struct

USER = "user"
SYSTEM = "system"
# The kind of a user's own stream, whose id is the user's.
USER_STREAM = "user"


class NewEvent(Struct, frozen=True):
    """An event to be. `type` is `resource.verb`; `data` is whatever JSON can say, but
    for the NUL character, which PostgreSQL cannot store."""

    type: str
    data: Any
    actor: str = SYSTEM


class ToUser(NamedTuple):
    """Events for the own stream of that user."""

    user_id: UUID
    events: Sequence[NewEvent]


def model_actor(model: str) -> str:
    """The actor of what the model of that catalog key says."""
    return f"model:{model}"


class Page(Struct, frozen=True):
    """Events of a stream. `body` is a JSON array of them, `next_seq` the place to read on from."""

    body: str
    next_seq: int


class Opening(NamedTuple):
    """An account wants to follow a stream of `kind`, by a token of a session of its own."""

    account_id: UUID
    session_id: UUID
    kind: str
    stream_id: UUID


class StreamStatus(NamedTuple):
    """What is to be known for that: the account as it is now, the last seq of the stream, and the
    last one that is deleted. None where the account has no such session, or no such stream."""

    status: str | None
    token_version: int | None
    head: int | None
    purged: int | None


class Place(NamedTuple):
    """Somebody has read the stream up to `seq`."""

    stream_id: UUID
    seq: int


class Frame(NamedTuple):
    """An event as it is delivered: a JSON object."""

    seq: int
    text: str


class Reading(NamedTuple):
    """A page of what comes after a place, and whether the stream has more than that; or that it is
    deleted."""

    frames: list[Frame]
    has_more: bool
    is_deleted: bool
