"""One call on its way: what arrived, how it was steered, and what a fault makes of the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from simulator import steering, titles
from simulator.connection import Connection
from simulator.journal import SHOWN_TEXT, Call
from simulator.memory import Memory
from simulator.provider import Json, Problem, Provider, Refused
from simulator.steering import Steering

_UNTIL_READ = 0.05  # seconds; a reset discards what the peer has not read yet


@dataclass(frozen=True, slots=True)
class Arrival:
    """A whole request. `path` has what the route's placeholders stand for."""

    call: Call
    provider: Provider
    connection: Connection
    body: bytes
    path: Mapping[str, str]
    memory: Memory


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that was understood, being answered."""

    call: Call
    provider: Provider
    steering: Steering
    connection: Connection

    @property
    def headers(self) -> dict[str, str]:
        return self.provider.headers(self.call.request_id)

    def problem(self) -> Problem:
        """The steered failure."""
        wishes = self.steering
        return Problem(wishes.status or 500, code=wishes.code, retry_after=wishes.retry_after)

    def error(self) -> Json:
        """The steered failure's body, in the provider's shape."""
        return self.provider.error(self.problem(), self.call.request_id)

    async def begin(self, *, silent: bool = True) -> None:
        """What comes before any answer: the wait, a refusal, a silence (unless it comes later)."""
        await self.connection.pause(self.steering.ttft_ms / 1000)
        if self.steering.fault == "refuse":
            raise Refused(self.problem())
        if silent:
            await self.fall_silent()

    async def fall_silent(self) -> None:
        """Hang or cut the connection if that is the steered fault; else return at once."""
        if self.steering.fault == "hang":
            await self.connection.hang()
        if self.steering.fault == "drop":
            self.call.finish("drop")
            await self.connection.pause(_UNTIL_READ)
            await self.connection.reset()

    async def send_whole(self, payload: Json, emit: Callable[[], None]) -> str:
        """Send one JSON body, or what the steered fault makes of it, and return the outcome.

        `emit` is called just before a sound body goes to the socket, to count what is in it.
        """
        fault = self.steering.fault
        if fault == "error":
            raise Refused(self.problem())
        if fault == "error_in_200":
            await self.connection.send_json(200, self.error(), self.headers)
            return fault
        encoded = msgspec.json.encode(payload)
        if fault is not None:  # bad_json and truncate are the same where there is one body
            await self.connection.send_body(200, encoded[: len(encoded) // 2], self.headers)
            return fault
        emit()
        await self.connection.send_body(200, encoded, self.headers)
        return "completed"


def steer(arrival: Arrival, texts: list[str], question: str) -> Exchange:
    """Follow the steering line in the texts of a request. Raises `Refused` if it cannot be."""
    call = arrival.call
    call.user_text = question[:SHOWN_TEXT]
    try:
        wishes = steering.read(texts, call.model, for_title=titles.is_wanted(question))
    except steering.InvalidSteering as error:
        raise Refused(Problem(400, str(error))) from error
    call.marker = wishes.marker
    if wishes.times is not None and wishes.times < len(
        arrival.memory.journal.marked(wishes.marker)
    ):
        wishes = steering.without_fault(wishes)
    return Exchange(call, arrival.provider, wishes, arrival.connection)
