"""Runway's videos: `/v1/text_to_video`, `/v1/image_to_video` and `/v1/tasks/{id}`.

Its client library is `runwayml`; https://docs.dev.runwayml.com has the failures of tasks.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import references
from simulator.connection import Connection
from simulator.exchange import Arrival
from simulator.media import bodies, results, tasks
from simulator.media.films import Film
from simulator.media.tasks import MediaTask, State
from simulator.provider import BearerProvider, Json, Problem, Refused

_VERSION = "2024-11-06"
_CREDITS_PER_SECOND = 12
_MAX_PROMPT = 1000  # UTF-16 code units
_STATUSES: dict[State, str] = {
    "queued": "THROTTLED",
    "running": "RUNNING",
    "succeeded": "SUCCEEDED",
    "failed": "FAILED",
    "cancelled": "CANCELLED",
}


class _Moderation(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    public_figure_threshold: Literal["auto", "low"] = "auto"


class _PromptImage(msgspec.Struct, forbid_unknown_fields=True):
    uri: str
    position: Literal["first"]


class _Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The fields of both requests. MP4 is the only format that the simulator can make."""

    model: Literal["gen4.5"]
    prompt_text: Annotated[str, Meta(min_length=1)]
    duration: Annotated[int, Meta(ge=2, le=10)]
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] | None = None
    content_moderation: _Moderation | None = None
    output_format: Literal["mp4"] = "mp4"


class TextToVideo(_Body, kw_only=True):
    ratio: Literal["1280:720", "720:1280"]


class ImageToVideo(_Body, kw_only=True):
    prompt_image: str | Annotated[list[_PromptImage], Meta(min_length=1, max_length=1)]
    ratio: Literal["1280:720", "720:1280", "1104:832", "960:960", "832:1104", "1584:672"]

    @property
    def image(self) -> str:
        return self.prompt_image if isinstance(self.prompt_image, str) else self.prompt_image[0].uri


async def text_to_video(arrival: Arrival) -> None:
    """Begin a video. Raises `Refused`."""
    body = bodies.decode(arrival.body, TextToVideo)
    await _begin(arrival, body, body.ratio, None)


async def image_to_video(arrival: Arrival) -> None:
    """Begin a video whose first frame is a picture. Raises `Refused`."""
    body = bodies.decode(arrival.body, ImageToVideo)
    await _begin(arrival, body, body.ratio, await references.from_address(body.image))


async def poll(arrival: Arrival) -> None:
    """The state of a task. Raises `Refused`."""
    task = tasks.find_task(arrival, arrival.path["name"])
    await tasks.poll(arrival, task, lambda task, state: _shown(arrival, task, state))


async def cancel(arrival: Arrival) -> None:
    """Cancel a running task; delete one that has ended, which is shown as cancelled then.

    Raises `Refused`.
    """
    task = tasks.find_task(arrival, arrival.path["name"])
    task.cancel()
    task.is_cancelled = task.state in tasks.ENDED
    await tasks.acknowledge(arrival, task, status=204)


async def _begin(arrival: Arrival, body: _Body, ratio: str, start: bytes | None) -> None:
    if len(body.prompt_text.encode("utf-16-le")) > 2 * _MAX_PROMPT:
        raise Refused(Problem(400, f"promptText has over {_MAX_PROMPT} characters."))
    exchange, prompt = tasks.order(
        arrival, model=body.model, prompt=body.prompt_text, pictures=(start,)
    )
    width, height = (int(part) // 4 // 2 * 2 for part in ratio.split(":"))
    exchange.call.size, exchange.call.seconds = ratio.replace(":", "x"), body.duration
    film = Film(prompt, body.duration, (width, height), f"{prompt} {body.seed}", start=start)
    task = tasks.new_task(exchange, film, {"credits": _CREDITS_PER_SECOND * body.duration})
    await tasks.submit(arrival, task, {"id": task.id, "estimatedCost": task.details})


def _shown(arrival: Arrival, task: MediaTask, state: State) -> Json:
    created = datetime.fromtimestamp(task.exchange.call.started_at, UTC)
    shown: Json = {
        "id": task.id,
        "status": _STATUSES[state],
        "createdAt": created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    match state:
        case "queued":
            return shown | {"estimatedCost": task.details}
        case "running":
            return shown | {"estimatedCost": task.details, "progress": task.progress}
        case "succeeded":
            return shown | {
                "cost": task.details,
                "output": [results.signed_url(arrival, task, "mp4")],
            }
        case "cancelled":
            was_made = task.exchange.call.outcome == "completed"
            return shown | {"cost": task.details if was_made else {"credits": 0}}
    return shown | {"cost": {"credits": 0}, "failureCode": _failure_code(task)} | _FAILURE


_FAILURE = {"failure": "An unexpected error occurred."}


def _failure_code(task: MediaTask) -> str:
    options = task.options
    if options.code is not None:
        return options.code
    if options.refusal:
        return "SAFETY.INPUT.TEXT"
    return "SAFETY.OUTPUT.VIDEO" if options.blocked else "INTERNAL.BAD_OUTPUT.CODE01"


_ERRORS = {
    401: "You did not provide a valid API key.",
    404: "The task was not found.",
    429: "You exceeded the rate limit.",
}


class Runway(BearerProvider):
    """The key comes as a bearer token, with the version of the interface in a header."""

    def require_key(self, connection: Connection) -> None:
        super().require_key(connection)
        if connection.headers.get("x-runway-version") != _VERSION:
            raise Refused(Problem(400, f"Send the header X-Runway-Version: {_VERSION}."))

    def error(self, problem: Problem, request_id: str) -> Json:
        usual = _ERRORS.get(problem.status, "The request has failed.")
        return {"error": problem.message or usual}
