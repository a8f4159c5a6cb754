"""Events that are written to a stream, and that are read from it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import Struct

USER = "user"
SYSTEM = "system"
# The kind of a user's own stream, whose id is the user's.
USER_STREAM = "user"


class NewEvent(Struct, frozen=True):
    """An event to write. `type` is `resource.verb`; `data` is any JSON without the NUL character,
    which PostgreSQL cannot store."""

    type: str
    data: Any
    actor: str = SYSTEM


class ToUser(NamedTuple):
    """Events for that user's own stream."""

    user_id: UUID
    events: Sequence[NewEvent]


def model_actor(model: str) -> str:
    """The actor of what the model with that catalog key produces."""
    return f"model:{model}"


class Page(Struct, frozen=True):
    """Events of a stream. `body` is a JSON array of them, `next_seq` the place to read on from."""

    body: str
    next_seq: int


class Opening(NamedTuple):
    """A request to follow a stream of `kind` that belongs to `owner_id`, with a token of the
    account's session."""

    account_id: UUID
    session_id: UUID
    kind: str
    stream_id: UUID
    owner_id: UUID


class StreamStatus(NamedTuple):
    """The account's status now, the last seq of the stream, and the last deleted one. None where
    the account has no such session, or its owner no such stream."""

    status: str | None
    token_version: int | None
    head: int | None
    purged: int | None


class Place(NamedTuple):
    """A reader has read the stream up to `seq`."""

    stream_id: UUID
    seq: int


class Frame(NamedTuple):
    """An event as it is delivered: a JSON object."""

    seq: int
    text: str


class Reading(NamedTuple):
    """A page of events after a place, and whether the stream has more; or that some are deleted."""

    frames: list[Frame]
    has_more: bool
    is_deleted: bool


class InboxMessage(Struct, frozen=True):
    """A message to running work. `sender_id` is None when that account is deleted."""

    number: int
    sender_id: UUID | None
    body: str
    created_at: datetime


class InboxState(Struct, frozen=True):
    """The messages of an inbox in order; those up to `read_number` are read."""

    messages: list[InboxMessage]
    read_number: int
