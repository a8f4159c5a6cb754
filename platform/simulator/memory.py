"""What the simulator remembers: its journal, what its answers named by an address, its keys."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from simulator.journal import Call, Journal
from simulator.pictures import Picture
from simulator.signing_keys import KeyRing
from simulator.steering import Steering

_KEPT = 1_000

T = TypeVar("T")


class Recent(Generic[T]):
    """The last things, by their names."""

    def __init__(self) -> None:
        self._things: OrderedDict[str, T] = OrderedDict()

    def keep(self, name: str, thing: T) -> None:
        """Remember a thing; the oldest is forgotten for it."""
        self._things[name] = thing
        if len(self._things) > _KEPT:
            self._things.popitem(last=False)

    def get(self, name: str) -> T | None:
        """The thing of that name, if it is still remembered."""
        return self._things.get(name)


@dataclass(frozen=True, slots=True)
class Hung:
    """A picture that waits at an address."""

    picture: Picture
    call: Call
    steering: Steering


@dataclass(slots=True)
class Task:
    """A picture being made, None if none will come. It is ready at `ready_at` (seconds of the
    monotonic clock), and not before it was asked after `polls` times."""

    picture: Picture | None
    call: Call
    steering: Steering
    ready_at: float
    polls: int


@dataclass(frozen=True, slots=True)
class Memory:
    journal: Journal
    pictures: Recent[Hung] = field(default_factory=Recent)
    tasks: Recent[Task] = field(default_factory=Recent)
    keys: KeyRing = field(default_factory=KeyRing)
