"""Events from memory, at a constant rate, for servers without an event log.

The number of an event is the time at which it was sent, in nanoseconds of the monotonic clock. An
event is as long as one of the service with 60 words of an answer.
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
    """`rate` events a second over this many streams in turn, for this many seconds, once this many
    sockets are open; no events where `sockets` is 0."""

    streams: int
    sockets: int
    rate: int
    seconds: float

    @property
    def events(self) -> int:
        """The number of events."""
        return int(self.rate * self.seconds)

    async def run(self, deliver: Callable[[int, str], Awaitable[None]]) -> None:
        """Pass each event with the number of its stream to `deliver`, at its time."""
        started = time.monotonic()
        for number in range(self.events):
            await asyncio.sleep(max(0, started + number / self.rate - time.monotonic()))
            await deliver(number % self.streams, _FRAME % time.monotonic_ns())

    def environment(self) -> dict[str, str]:
        """The feed as environment variables of a server."""
        return {"FEED": f"{self.streams} {self.sockets} {self.rate} {self.seconds}"}

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Feed":
        """The feed in the variables of `environment()`."""
        streams, sockets, rate, seconds = environment["FEED"].split()
        return cls(int(streams), int(sockets), int(rate), float(seconds))
