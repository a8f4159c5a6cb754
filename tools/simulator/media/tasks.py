"""The state machine that all providers of video and 3D share: a task is submitted, waits, runs, and
ends; it may be cancelled before it ends."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol
from uuid import UUID

import msgspec

from simulator import insets, steering
from simulator.exchange import Arrival, Exchange, steer
from simulator.provider import Json, Problem, Refused
from simulator.steering import Request

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("succeeded", "failed", "cancelled")


class Product(Protocol):
    """A film or a 3D model that a task makes."""

    def make_file(self, kind: str) -> bytes | None:
        """The file of this kind, such as `mp4`; None where there is none. It takes a while."""
        ...


@dataclass(slots=True)
class MediaTask:
    """It ends at `ready_at` (seconds of the monotonic clock), after at least `polls` polls that
    follow the `queue` ones. `details` are the wire's own. `seen` counts its requests, for faults.
    """

    exchange: Exchange
    product: Product
    details: Json
    ready_at: float
    queue: int
    polls: int
    is_cancelled: bool = False
    is_deleted: bool = False
    seen: Counter[Request] = field(default_factory=Counter)

    @property
    def id(self) -> str:
        return str(UUID(self.exchange.call.id))

    @property
    def options(self) -> steering.Steering:
        return self.exchange.steering

    @property
    def state(self) -> State:
        if self.is_cancelled:
            return "cancelled"
        if self.queue > 0:
            return "queued"
        if self.polls > 0 or time.monotonic() < self.ready_at:
            return "running"
        options = self.options
        is_failed = options.blocked or options.refusal
        is_failed |= options.finish not in (None, "uncancellable")
        return "failed" if is_failed else "succeeded"

    @property
    def progress(self) -> float:
        """From 0 to 1, which is the end."""
        if self.state != "running":
            return 0.0 if self.state == "queued" else 1.0
        polled = 1 - max(0, self.polls) / max(1, self.options.polls)
        left = max(0.0, self.ready_at - time.monotonic())
        waited = 1 - left / max(0.001, self.options.delay_ms / 1000)
        return min(polled, waited, 0.99)

    def count_poll(self) -> State:
        """Count a poll, and return the state that it is told."""
        if not self.is_cancelled and self.queue > 0:
            self.queue -= 1
            return "queued"
        self.polls -= 1
        if self.state in ENDED:
            self.exchange.call.finish(_outcome(self))
        return self.state

    def cancel(self) -> None:
        """Cancel the task, unless it has ended or cannot be cancelled."""
        if self.state not in ENDED and self.options.finish != "uncancellable":
            self.is_cancelled = True
            self.exchange.call.finish("cancelled")

    def exchange_for(self, arrival: Arrival, request: Request) -> Exchange:
        """The exchange of a request: with the steered fault, if it is for this request."""
        self.seen[request] += 1
        options = self.options
        if request not in options.at or self._is_over(request):
            options = msgspec.structs.replace(steering.without_fault(options), missing=False)
        # The journal says what became of the task, and not of its later requests.
        return replace(
            self.exchange, call=arrival.call, steering=options, connection=arrival.connection
        )

    def file_fault(self) -> steering.Result | None:
        """The steered fault of the file, None where the fault is over or there is none."""
        return None if self._is_over("file") else self.options.result

    def _is_over(self, request: Request) -> bool:
        times = self.options.times
        return times is not None and self.seen[request] > times


def order(
    arrival: Arrival, *, model: str, prompt: str, pictures: tuple[bytes | None, ...] = ()
) -> tuple[Exchange, str]:
    """The exchange of a submission, and its prompt without the steering line.

    A steering line may be in the description of a picture, too. Raises `Refused`.
    """
    given = [picture for picture in pictures if picture is not None]
    call = arrival.call
    call.model, call.references = model, len(given)
    call.prompt_tokens = len(prompt.split())
    texts = [insets.description_in_file(picture) for picture in given]
    exchange = steer(arrival, [*texts, prompt], prompt)
    return exchange, steering.without(prompt)


def new_task(exchange: Exchange, product: Product, details: Json) -> MediaTask:
    """A new task."""
    options = exchange.steering
    ready_at = time.monotonic() + options.delay_ms / 1000
    return MediaTask(exchange, product, details, ready_at, options.queue, options.polls)


async def submit(arrival: Arrival, task: MediaTask, payload: Json, *, status: int = 200) -> None:
    """Keep a new task, and answer. It is begun even where the answer is lost by a fault."""
    now = task.exchange_for(arrival, "submit")
    await now.begin(silent=False)
    arrival.memory.media.keep(task.id, task)
    await now.fall_silent()
    await now.send_whole(payload, lambda: None, status=status)


async def poll(
    arrival: Arrival,
    task: MediaTask,
    show: Callable[[MediaTask, State], Json],
    send: Callable[[Arrival, MediaTask, Json], Awaitable[None]] | None = None,
) -> None:
    """Answer a poll; `send` sends the answer in a way of its own. A poll that fails does not
    count."""
    now = task.exchange_for(arrival, "poll")
    is_sound = now.steering.fault is None
    state = task.count_poll() if is_sound and not now.steering.missing else task.state
    await now.begin()
    if now.steering.missing:
        raise Refused(Problem(404))
    if send is not None and is_sound:
        await send(arrival, task, show(task, state))
    else:
        await now.send_whole(show(task, state), lambda: None)


async def acknowledge(
    arrival: Arrival, task: MediaTask, *, status: int, payload: Json | None = None
) -> None:
    """Answer a request to cancel a task, or to delete it: in JSON, or with nothing."""
    now = task.exchange_for(arrival, "cancel")
    await now.begin()
    if payload is not None:
        await now.send_whole(payload, lambda: None, status=status)
    elif now.steering.fault is not None:
        raise Refused(now.problem())
    else:
        await arrival.connection.start(status, {} if status == 204 else {"content-length": "0"})
        await arrival.connection.end()


def find_task(arrival: Arrival, name: str) -> MediaTask:
    """The provider's task of this name. Raises `Refused` with a 404."""
    task = arrival.memory.media.get(name)
    if task is None or task.is_deleted or task.exchange.call.provider != arrival.call.provider:
        raise Refused(Problem(404))
    return task


def _outcome(task: MediaTask) -> str:
    if task.state == "succeeded":
        return "completed"
    if task.state == "cancelled":
        return "cancelled"
    options = task.options
    return "blocked" if options.blocked else "refusal" if options.refusal else "failed"
