"""One call in progress: its request, its steering, and the effect of a fault on its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from simulator import projects, prompts, steering
from simulator.competence import slips
from simulator.competence.slips import Slip
from simulator.connection import Connection
from simulator.journal import SHOWN_TEXT, Call
from simulator.memory import Memory
from simulator.provider import Json, Problem, Provider, Refused
from simulator.steering import Steering

_UNTIL_READ = 0.05  # seconds; a reset discards data that the peer has not read yet


@dataclass(frozen=True, slots=True)
class Arrival:
    """A whole request. `path` has the values of the route's placeholders."""

    call: Call
    provider: Provider
    connection: Connection
    body: bytes
    path: Mapping[str, str]
    memory: Memory


@dataclass(frozen=True, slots=True)
class Exchange:
    """A valid request that is being answered. `slip` is a mistake of a clumsy author."""

    call: Call
    provider: Provider
    steering: Steering
    connection: Connection
    slip: Slip | None = None

    @property
    def headers(self) -> dict[str, str]:
        return self.provider.headers(self.call.request_id)

    def problem(self) -> Problem:
        """The steered failure."""
        options = self.steering
        return Problem(options.status or 500, code=options.code, retry_after=options.retry_after)

    def error(self) -> Json:
        """The steered failure's body, in the provider's shape."""
        return self.provider.error(self.problem(), self.call.request_id)

    async def begin(self, *, silent: bool = True) -> None:
        """The steps before any answer: the wait, a refusal, a silence (unless a fault comes
        later)."""
        await self.connection.pause(self.steering.ttft_ms / 1000)
        if self.steering.fault == "refuse":
            raise Refused(self.problem())
        if silent:
            await self.fall_silent()

    async def fall_silent(self) -> None:
        """Hang or cut the connection if that is the steered fault; otherwise return at once."""
        if self.steering.fault == "hang":
            await self.connection.hang()
        if self.steering.fault == "drop":
            self.call.finish("drop")
            await self.connection.pause(_UNTIL_READ)
            await self.connection.reset()

    async def send_whole(
        self, payload: Json, emit: Callable[[], None], *, status: int = 200
    ) -> str:
        """Send one JSON body, or the steered fault in its place, and return the outcome.

        `emit` is called just before a valid body is sent, to count its contents.
        """
        fault = self.steering.fault
        if fault == "error":
            raise Refused(self.problem())
        if fault == "error_in_200":
            await self.connection.send_json(200, self.error(), self.headers)
            return fault
        encoded = msgspec.json.encode(payload)
        if fault is not None:  # For one body, bad_json and truncate are the same.
            await self.connection.send_body(200, encoded[: len(encoded) // 2], self.headers)
            return fault
        emit()
        await self.connection.send_body(status, encoded, self.headers)
        return "completed"


def _place(texts: list[str], question: str) -> steering.Place:
    step = projects.kind_of(texts)
    if step is not None:
        return steering.Place(step=step, subtask=projects.task_of(texts))
    return steering.Place(is_title=prompts.asks_for_title(question))


def steer(arrival: Arrival, texts: list[str], question: str) -> Exchange:
    """Apply the steering line in the texts of a request. Raises `Refused` if it is invalid."""
    call = arrival.call
    call.user_text = question[:SHOWN_TEXT]
    place = _place(texts, question)
    try:
        options = steering.read(texts, call.model, place)
    except steering.InvalidSteering as error:
        raise Refused(Problem(400, str(error))) from error
    call.marker = options.marker
    if options.times is not None and options.times < len(
        arrival.memory.journal.marked(options.marker)
    ):
        options = steering.without_fault(options)
    slip = _slip(arrival, options, place, texts)
    options = options if slip is None else slips.with_fault(options, slip)
    options = arrival.memory.outages.get(call.model, options)
    return Exchange(call, arrival.provider, options, arrival.connection, slip)


def _slip(
    arrival: Arrival, options: Steering, place: steering.Place, texts: list[str]
) -> Slip | None:
    """The mistake of a clumsy author in this call, which is marked with its step and subtask. The
    turns of one that calls functions belong to the answer that it has begun."""
    if options.clumsy is None or place.step is None:
        return None
    call, journal = arrival.call, arrival.memory.journal
    asked = f"{options.marker} {place.step} {place.subtask}".strip()
    turn = f"{asked} (turn)"
    call.marker = turn if projects.is_turn(texts) else asked
    answers = journal.marked(asked)
    if not projects.calls_functions(texts) or not answers:
        return slips.slip_of(options.clumsy, place.step, place.subtask, max(0, len(answers) - 1))
    begun = answers[-1].started_at
    turns = sum(each.started_at > begun for each in journal.marked(turn))
    before = len(answers) - 1
    return slips.slip_in_turn(options.clumsy, place.step, place.subtask, before, turns)
