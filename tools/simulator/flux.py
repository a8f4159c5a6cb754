"""Black Forest Labs' FLUX: a task is submitted and polled, and its picture is fetched from a
URL."""

import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import images, references
from simulator.connection import Connection
from simulator.exchange import Arrival
from simulator.memory import StoredPicture, Task
from simulator.pictures import Picture
from simulator.provider import WRONG_KEY, Json, Problem, Refused

_MEGAPIXEL = 1024 * 1024
_STEP = 16  # pixels
_MAX_MEGAPIXELS = 4
# Cents for the first megapixel, and for each further one.
_PRICES = {"flux-2-pro": (3.0, 1.5), "flux-2-flex": (6.0, 6.0), "flux-2-max": (7.0, 3.0)}

_CENTS_PER_REFERENCE = 1.5
_REFERENCES = ("input_image", *(f"input_image_{number}" for number in range(2, 9)))

_Edge = Annotated[int, Meta(ge=64, multiple_of=_STEP)]


class FluxBody(msgspec.Struct, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(min_length=1)]
    width: _Edge = 1024
    height: _Edge = 1024
    seed: int | None = None
    output_format: Literal["png"] = "png"  # the only format that the simulator can make
    safety_tolerance: Annotated[int, Meta(ge=0, le=6)] = 2
    prompt_upsampling: bool = False
    input_image: str | None = None
    input_image_2: str | None = None
    input_image_3: str | None = None
    input_image_4: str | None = None
    input_image_5: str | None = None
    input_image_6: str | None = None
    input_image_7: str | None = None
    input_image_8: str | None = None

    async def references(self) -> tuple[bytes, ...]:
        """The pictures that were given as base64 or as URLs. Raises `Refused`."""
        texts = [getattr(self, name) for name in _REFERENCES]
        return tuple([await _reference(text) for text in texts if text is not None])


async def submit(arrival: Arrival) -> str | None:
    """Accept a task and return its polling URL. The call ends when a poll returns the end of the
    task."""
    model = arrival.path["model"]
    if model not in _PRICES:
        raise Refused(Problem(404))
    body = _read(arrival.body)
    size = body.width, body.height
    if body.width * body.height > _MAX_MEGAPIXELS * _MEGAPIXEL:
        message = f"At most {_MAX_MEGAPIXELS} megapixels are possible."
        raise Refused(Problem(422, message, param="width"))
    exchange, pictures = images.order(
        arrival,
        model=model,
        prompt=body.prompt,
        n=1,
        size=size,
        quality=None,
        references=await body.references(),
    )
    await exchange.begin()
    options, name = exchange.steering, exchange.call.id
    picture = pictures[0] if pictures else None
    ready_at = time.monotonic() + options.delay_ms / 1000
    task = Task(picture, exchange.call, options, ready_at, options.polls)
    arrival.memory.tasks.keep(name, task)
    payload = _accepted(arrival, model, body)
    if options.fault == "error":  # the fault of the task, not of its submission
        await exchange.connection.send_json(200, payload, exchange.headers)
        return None
    outcome = await exchange.send_whole(payload, lambda: None)
    return None if outcome == "completed" else outcome


async def poll(arrival: Arrival) -> str:
    """Answer a poll with the status of the task."""
    name = arrival.connection.query.get("id", "")
    task = arrival.memory.tasks.get(name)
    status = "Task not found" if task is None else _status(task)
    body: Json = {"id": name, "status": status, "result": None, "progress": None, "details": None}
    if task is not None and status != "Pending":
        _end(task, status)
        if status == "Ready" and task.picture is not None:
            body["result"] = _result(arrival, task, task.picture)
    await arrival.connection.send_json(404 if task is None else 200, body)
    return "completed"


def _read(body: bytes) -> FluxBody:
    try:
        return msgspec.json.decode(body, type=FluxBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(422, str(error))) from error


async def _reference(text: str) -> bytes:
    if text.startswith(("http://", "https://", "data:")):
        return await references.from_address(text)
    return references.from_base64(text)


def _accepted(arrival: Arrival, model: str, body: FluxBody) -> Json:
    megapixels = body.width * body.height / _MEGAPIXEL
    first, further = _PRICES[model]
    name, given = arrival.call.id, arrival.call.references
    return {
        "id": name,
        "polling_url": f"{arrival.connection.origin}/bfl/v1/get_result?id={name}",
        "cost": first + further * max(0.0, megapixels - 1) + _CENTS_PER_REFERENCE * given,
        "input_mp": float(given),
        "output_mp": megapixels,
    }


def _status(task: Task) -> str:
    """The task's status. Each poll counts."""
    options = task.steering
    if task.polls > 0 or time.monotonic() < task.ready_at:
        task.polls -= 1
        return "Pending"
    if options.finish is not None:
        return options.finish
    if options.blocked or options.refusal:
        return "Request Moderated" if options.blocked else "Content Moderated"
    return "Error" if options.fault == "error" or task.picture is None else "Ready"


def _end(task: Task, status: str) -> None:
    outcomes = {"Ready": "completed", "Request Moderated": "blocked"}
    task.call.finish(outcomes.get(status, "refusal" if "Moderated" in status else "error"))


def _result(arrival: Arrival, task: Task, picture: Picture) -> Json:
    call = task.call
    return {
        "sample": images.store(arrival, StoredPicture(picture, call, task.steering)),
        "prompt": picture.prompt,
        "seed": 42,
        "start_time": call.started_at,
        "end_time": call.ended_at,
        "duration": (call.ended_at or call.started_at) - call.started_at,
    }


_ERRORS = {
    402: "Insufficient credits. You can add more at api.bfl.ai.",
    403: "Not authenticated - Invalid Authentication",
    404: "Not Found",
    422: "Value error",
    429: "Rate limit exceeded. You can have up to 24 active tasks.",
    503: "The service is temporarily unavailable.",
}


class BlackForestLabs:
    """The key comes in `x-key`; there is no 401."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        key = connection.headers.get("x-key", "").strip()
        if not key:
            raise Refused(Problem(403, "Not authenticated - No Authentication"))
        if key == WRONG_KEY:
            raise Refused(Problem(403))

    def error(self, problem: Problem, request_id: str) -> Json:
        """`detail` is a sentence; for an invalid request it is a list of errors with their
        places."""
        message = problem.message or _ERRORS.get(problem.status, "Internal Server Error")
        if problem.status != 422:
            return {"detail": message}
        where = ["body", problem.param or "prompt"]
        return {"detail": [{"loc": where, "msg": message, "type": problem.code or "value_error"}]}

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
