"""The simulator's state: its journal, the pictures and tasks of earlier answers, its keys."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from simulator.journal import Call, Journal
from simulator.pictures import Picture
from simulator.signing_keys import KeyRing
from simulator.steering import Steering

if TYPE_CHECKING:
    from simulator.dead_keys import DeadKey
    from simulator.media.tasks import MediaTask
    from simulator.media.vertex_provider import AccessToken

_KEPT = 1_000
_KEPT_MEDIA = 20_000  # thousands are in flight at once in a benchmark

T = TypeVar("T")


class Recent(Generic[T]):
    """The newest items, by name."""

    def __init__(self, limit: int = _KEPT) -> None:
        self._limit = limit
        self._items: OrderedDict[str, T] = OrderedDict()

    def keep(self, name: str, item: T) -> None:
        """Add an item, and forget the oldest one."""
        self._items[name] = item
        if len(self._items) > self._limit:
            self._items.popitem(last=False)

    def all(self) -> list[T]:
        """All items, the oldest first."""
        return list(self._items.values())

    def get(self, name: str) -> T | None:
        """The item of this name, if it is not forgotten."""
        return self._items.get(name)


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture that can be fetched from its URL."""

    picture: Picture
    call: Call
    steering: Steering


@dataclass(slots=True)
class Task:
    """A picture being made, None if there will be none. It is ready at `ready_at` (seconds of the
    monotonic clock), after at least `polls` polls."""

    picture: Picture | None
    call: Call
    steering: Steering
    ready_at: float
    polls: int


@dataclass(frozen=True, slots=True)
class Memory:
    journal: Journal
    pictures: Recent[StoredPicture] = field(default_factory=Recent)
    tasks: Recent[Task] = field(default_factory=Recent)
    media: "Recent[MediaTask]" = field(default_factory=lambda: Recent(_KEPT_MEDIA))
    uploads: Recent[bytes] = field(default_factory=Recent)
    access_tokens: "Recent[AccessToken]" = field(default_factory=Recent)
    dead_keys: "dict[str, DeadKey]" = field(default_factory=dict)
    # By the providers' names of the models.
    outages: dict[str, Steering] = field(default_factory=dict)
    keys: KeyRing = field(default_factory=KeyRing)
    service_account: KeyRing = field(default_factory=KeyRing)
