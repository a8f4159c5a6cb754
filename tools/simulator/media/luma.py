"""Luma's Dream Machine: `/dream-machine/v1/generations`.

Its client library is `lumaai`; its documents are at https://docs.lumalabs.ai. Pictures are given as
URLs only. What extends a clip is a clip of its own, which begins where that one ends.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import references
from simulator.exchange import Arrival
from simulator.media import bodies, films, results, tasks
from simulator.media.films import Film
from simulator.media.tasks import MediaTask, State
from simulator.provider import BearerProvider, Json, Problem, Refused

_STATES: dict[State, str] = {
    "queued": "queued",
    "running": "dreaming",
    "succeeded": "completed",
    "failed": "failed",
}
_MODERATED = "400: prompt not allowed because advanced moderation failed"


class _Generation(msgspec.Struct, tag_field="type", tag="generation", forbid_unknown_fields=True):
    id: str


class _Image(msgspec.Struct, tag_field="type", tag="image", forbid_unknown_fields=True):
    url: str


class _Keyframes(msgspec.Struct, forbid_unknown_fields=True):
    frame0: _Generation | _Image | None = None
    frame1: _Image | None = None


class _Concept(msgspec.Struct, forbid_unknown_fields=True):
    key: str


class GenerationBody(msgspec.Struct, forbid_unknown_fields=True):
    """A video. `callback_url` is missing, because the simulator calls nobody."""

    model: Literal["ray-2", "ray-flash-2"]
    prompt: Annotated[str, Meta(min_length=3, max_length=5000)]
    aspect_ratio: Literal["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"] = "16:9"
    resolution: Literal["540p", "720p", "1080p", "4k"] = "720p"
    duration: Literal["5s", "9s"] = "5s"
    generation_type: Literal["video"] = "video"
    keyframes: _Keyframes | None = None
    loop: bool = False
    concepts: list[_Concept] = []

    @property
    def seconds(self) -> int:
        return int(self.duration[:-1])


async def submit(arrival: Arrival) -> None:
    """Begin a video. Raises `Refused`."""
    body = bodies.decode(arrival.body, GenerationBody)
    keyframes = body.keyframes or _Keyframes()
    before = keyframes.frame0
    start = await references.from_url(before.url) if isinstance(before, _Image) else None
    end = await references.from_url(keyframes.frame1.url) if keyframes.frame1 else None
    exchange, prompt = tasks.order(
        arrival, model=body.model, prompt=body.prompt, pictures=(start, end)
    )
    exchange.call.seconds, exchange.call.size = body.seconds, body.resolution
    if isinstance(before, _Generation):
        film = _extension(arrival, body, prompt, before.id)
    else:
        size = films.frame_size(body.resolution, body.aspect_ratio)
        film = Film(prompt, body.seconds, size, prompt, start=start, end=end)
    task = tasks.new_task(exchange, film, bodies.sent_fields(arrival.body))
    await tasks.submit(arrival, task, _shown(arrival, task, "queued"), status=201)


async def poll(arrival: Arrival) -> None:
    """The state of a generation. Raises `Refused`."""
    task = tasks.find_task(arrival, arrival.path["name"])
    await tasks.poll(arrival, task, lambda task, state: _shown(arrival, task, state))


async def remove(arrival: Arrival) -> None:
    """Delete a generation, running or ended: it is unknown from then on. Raises `Refused`."""
    task = tasks.find_task(arrival, arrival.path["name"])
    task.cancel()
    task.is_deleted = task.state in tasks.ENDED
    await tasks.acknowledge(arrival, task, status=204)


def _extension(arrival: Arrival, body: GenerationBody, prompt: str, name: str) -> Film:
    source = tasks.find_task(arrival, name)
    film = source.product
    if source.state != "succeeded" or not isinstance(film, Film):
        raise Refused(Problem(400, "Only a completed generation can be extended."))
    if body.seconds != 5:
        raise Refused(Problem(400, "An extension has 5s."))
    arrival.call.references = 1
    starts_at = film.starts_at + film.seconds
    return Film(prompt, body.seconds, film.size, film.seed, starts_at=starts_at)


def _shown(arrival: Arrival, task: MediaTask, state: State) -> Json:
    video = results.signed_url(arrival, task, "mp4") if state == "succeeded" else None
    return {
        "id": task.id,
        "generation_type": "video",
        "state": _STATES[state],
        "failure_reason": _failure(task) if state == "failed" else None,
        "created_at": datetime.fromtimestamp(task.exchange.call.started_at, UTC).isoformat(),
        "assets": {"video": video, "image": None, "progress_video": None} if video else None,
        "model": task.exchange.call.model,
        "request": {"generation_type": "video"} | task.details,
    }


def _failure(task: MediaTask) -> str:
    options = task.options
    moderated = options.blocked or options.refusal
    return options.code or (_MODERATED if moderated else "500: The generation has failed.")


_ERRORS = {
    401: "Invalid API key",
    402: "Insufficient credits",
    404: "Generation not found",
    429: "Too many requests",
}


class Luma(BearerProvider):
    """Errors in Luma's form."""

    def error(self, problem: Problem, request_id: str) -> Json:
        return {"detail": problem.message or _ERRORS.get(problem.status, "Internal Server Error")}
