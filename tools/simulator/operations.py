"""A provider of long-running operations: submitted, looked up, polled, cancelled, and fetched.

It stands for all providers of video and 3D, and can look up an operation by the caller's reference.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from simulator import images
from simulator.exchange import Arrival
from simulator.media import bodies, results, tasks
from simulator.media.tasks import MediaTask, State
from simulator.pictures import Picture
from simulator.provider import BearerProvider, Json, Problem

_USD_PER_SECOND = 0.01


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(min_length=1)]
    seconds: Annotated[int, Meta(ge=1, le=60)]
    reference: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of an operation."""

    picture: Picture
    is_sound: bool

    def make_file(self, kind: str) -> bytes | None:
        """The PNG, or other bytes in its place."""
        if kind != "png":
            return None
        return self.picture.png() if self.is_sound else b"Nothing."


async def submit(arrival: Arrival) -> None:
    """Begin an operation. It is begun even where the answer is lost by a fault."""
    body = bodies.decode(arrival.body, _Body, status=422)
    exchange, (picture, *_) = images.order(
        arrival, model="renderer-1", prompt=body.prompt, n=1, size=(64, 64), quality=None
    )
    details = {"reference": body.reference, "seconds": body.seconds}
    rendered = Rendered(picture, not exchange.steering.no_picture)
    task = tasks.new_task(exchange, rendered, details)
    await tasks.submit(arrival, task, _shown(arrival, task, "running"))


async def find(arrival: Arrival) -> None:
    """The operations with a reference."""
    reference = arrival.connection.query.get("reference", "")
    found = [
        task
        for task in arrival.memory.media.all()
        if isinstance(task.product, Rendered) and task.details["reference"] == reference
    ]
    if not found:
        await arrival.connection.send_json(200, {"operations": []})
        return
    now = found[0].exchange_for(arrival, "find")
    if now.steering.missing:
        found = []
    await now.begin()
    shown = [_shown(arrival, task, task.state) for task in found]
    await now.send_whole({"operations": shown}, lambda: None)


async def poll(arrival: Arrival) -> None:
    """The state of an operation. Each poll counts."""
    task = tasks.find_task(arrival, arrival.path["name"])
    await tasks.poll(arrival, task, lambda task, state: _shown(arrival, task, state))


async def cancel(arrival: Arrival) -> None:
    """Cancel an operation, unless it has ended or cannot be cancelled."""
    task = tasks.find_task(arrival, arrival.path["name"])
    task.cancel()
    await tasks.acknowledge(arrival, task, status=200, payload=_shown(arrival, task, task.state))


async def show_file(arrival: Arrival) -> None:
    """The result of an operation."""
    task = tasks.find_task(arrival, arrival.path["name"])
    await results.send_file(arrival, task, "png")


def _shown(arrival: Arrival, task: MediaTask, state: State) -> Json:
    status = "running" if state == "queued" else state
    shown: Json = {"id": task.id, "status": status, "reference": task.details["reference"]}
    if state == "succeeded":
        shown["url"] = f"{arrival.connection.origin}/renderer/v1/files/{task.id}"
        shown["cost_usd"] = _USD_PER_SECOND * task.details["seconds"]
    if state == "failed":
        code = "moderation_blocked" if task.options.blocked else "render_error"
        shown["error"] = {"code": code, "message": "The operation has failed."}
    return shown


class Renderer(BearerProvider):
    """Errors in the form of the renderer."""

    def error(self, problem: Problem, request_id: str) -> Json:
        message = problem.message or "The request has failed."
        return {"error": {"code": problem.code or "error", "message": message}}

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-request-id": request_id}
