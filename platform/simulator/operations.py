"""A provider of long-running operations: submitted, looked up, polled, cancelled, and fetched.

It stands for the providers of video and 3D, whose interfaces differ in names only.
"""

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec
from msgspec import Meta

from simulator import images, steering
from simulator.connection import Connection
from simulator.exchange import Arrival, Exchange
from simulator.pictures import Picture
from simulator.provider import Json, Problem, Refused, require_bearer
from simulator.steering import Request

_USD_PER_SECOND = 0.01


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(min_length=1)]
    seconds: Annotated[int, Meta(ge=1, le=60)]
    reference: str


@dataclass(slots=True)
class Operation:
    """It ends at `ready_at` (seconds of the monotonic clock), after at least `polls` polls. `seen`
    counts its requests, for faults."""

    exchange: Exchange
    picture: Picture
    seconds: int
    reference: str
    ready_at: float
    polls: int
    is_cancelled: bool = False
    seen: Counter[Request] = field(default_factory=Counter)


async def submit(arrival: Arrival) -> str | None:
    """Begin an operation. It is begun even where the answer is lost by a fault."""
    body = _read(arrival.body)
    exchange, (picture, *_) = images.order(
        arrival, model="renderer-1", prompt=body.prompt, n=1, size=(64, 64), quality=None
    )
    options = exchange.steering
    operation = Operation(
        exchange,
        picture,
        body.seconds,
        body.reference,
        time.monotonic() + options.delay_ms / 1000,
        options.polls,
    )
    now = _now(arrival, operation, "submit")
    await now.begin(silent=False)
    arrival.memory.operations.keep(arrival.call.id, operation)
    await now.fall_silent()
    await now.send_whole(_shown(arrival, operation), lambda: None)
    return None


async def find(arrival: Arrival) -> None:
    """The operations with a reference."""
    reference = arrival.connection.query.get("reference", "")
    found = [item for item in arrival.memory.operations.all() if item.reference == reference]
    if not found:
        await arrival.connection.send_json(200, {"operations": []})
        return
    now = _now(arrival, found[0], "find")
    if now.steering.missing:
        found = []
    await _answer(now, {"operations": [_shown(arrival, operation) for operation in found]})


async def poll(arrival: Arrival) -> None:
    """The state of an operation. Each poll counts."""
    operation = _named(arrival)
    now = _now(arrival, operation, "poll")
    if now.steering.fault is None:
        operation.polls -= 1
    await _answer(now, _shown(arrival, operation))


async def cancel(arrival: Arrival) -> None:
    """Cancel an operation, unless it has ended or cannot be cancelled."""
    operation = _named(arrival)
    now = _now(arrival, operation, "cancel")
    if _status(operation) == "running" and now.steering.finish != "uncancellable":
        operation.is_cancelled = True
    await _answer(now, _shown(arrival, operation))


async def show_file(arrival: Arrival) -> None:
    """The result of an operation."""
    operation = _named(arrival)
    now = _now(arrival, operation, "file")
    await now.begin()
    if now.steering.fault is not None:
        raise Refused(now.problem())
    operation.exchange.call.images_emitted += 1
    data = b"Nothing." if now.steering.no_picture else operation.picture.png()
    await arrival.connection.send_body(200, data, {"content-type": "image/png"})


async def _answer(now: Exchange, payload: Json) -> None:
    await now.begin()
    await now.send_whole(payload, lambda: None)


def _now(arrival: Arrival, operation: Operation, request: Request) -> Exchange:
    """The exchange of a request: with the steered fault, if it is for this request."""
    options = operation.exchange.steering
    operation.seen[request] += 1
    is_over = options.times is not None and operation.seen[request] > options.times
    if request not in options.at or is_over:
        options = msgspec.structs.replace(steering.without_fault(options), missing=False)
    # The journal says what became of the operation, and not of its later requests.
    return replace(
        operation.exchange, call=arrival.call, steering=options, connection=arrival.connection
    )


def _named(arrival: Arrival) -> Operation:
    operation = arrival.memory.operations.get(arrival.path["name"])
    if operation is None:
        raise Refused(Problem(404, "There is no such operation."))
    return operation


def _read(body: bytes) -> _Body:
    try:
        return msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(422, str(error))) from error


def _status(operation: Operation) -> str:
    options = operation.exchange.steering
    if operation.is_cancelled:
        return "cancelled"
    if operation.polls > 0 or time.monotonic() < operation.ready_at:
        return "running"
    return "failed" if options.blocked or options.finish == "failed" else "succeeded"


def _shown(arrival: Arrival, operation: Operation) -> Json:
    status, call = _status(operation), operation.exchange.call
    shown: Json = {"id": call.id, "status": status, "reference": operation.reference}
    if status != "running":
        call.finish("completed" if status == "succeeded" else status)
    if status == "succeeded":
        shown["url"] = f"{arrival.connection.origin}/renderer/v1/files/{call.id}"
        shown["cost_usd"] = _USD_PER_SECOND * operation.seconds
    if status == "failed":
        code = "moderation_blocked" if operation.exchange.steering.blocked else "render_error"
        shown["error"] = {"code": code, "message": "The operation has failed."}
    return shown


class Renderer:
    """The key comes as a bearer token."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        require_bearer(connection)

    def error(self, problem: Problem, request_id: str) -> Json:
        message = problem.message or "The request has failed."
        return {"error": {"code": problem.code or "error", "message": message}}

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-request-id": request_id}
