"""Events from memory, at a steady rate: what the servers send that know of no log.

An event's number is the time at which it was sent, in nanoseconds of the monotonic clock. It is as
long as an event of the service that carries 60 words of an answer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

WORDS = "word " * 60
_FRAME = (
    '{"seq":%d,"type":"card.delta","session_id":"01890f3e-0000-7000-8000-000000000000",'
    '"created_at":"2026-01-01T00:00:00.000000Z","actor":"model:gpt-6-luna","data":{"card_id":'
    '"01890f3e-0000-7000-8000-000000000000","version":1,"offset":1200,"text":"' + WORDS + '"}}'
)


@dataclass(frozen=True, slots=True)
class Feed:
    """`rate` events a second over so many streams in turn, for so long, once that many sockets are
    open; none at all where `sockets` is 0."""

    streams: int
    sockets: int
    rate: int
    seconds: float

    @property
    def events(self) -> int:
        """How many there are in all."""
        return int(self.rate * self.seconds)

    async def run(self, deliver: Callable[[int, str], Awaitable[None]]) -> None:
        """Give each event to `deliver`, with the number of its stream, when its time has come."""
        started = time.monotonic()
        for number in range(self.events):
            await asyncio.sleep(max(0, started + number / self.rate - time.monotonic()))
            await deliver(number % self.streams, _FRAME % time.monotonic_ns())

    def environment(self) -> dict[str, str]:
        """As a server process is told of it."""
        return {"FEED": f"{self.streams} {self.sockets} {self.rate} {self.seconds}"}

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Feed":
        """What `environment()` says."""
        streams, sockets, rate, seconds = environment["FEED"].split()
        return cls(int(streams), int(sockets), int(rate), float(seconds))
