"""Meshy's 3D models: `/openapi/v2/text-to-3d` in two stages, and `/openapi/v1/image-to-3d`.

Its documents are at https://docs.meshy.ai; the names of the fields are those of its own MCP server.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import references
from simulator.exchange import Arrival
from simulator.media import bodies, results, tasks
from simulator.media.glb import Asset
from simulator.media.tasks import MediaTask, State
from simulator.provider import BearerProvider, Json, Problem, Refused

_TEXT, _IMAGE = "text-to-3d", "image-to-3d"
_LIFETIME_MS = 3 * 24 * 3600 * 1000
_STATUSES: dict[State, str] = {
    "queued": "PENDING",
    "running": "IN_PROGRESS",
    "succeeded": "SUCCEEDED",
    "failed": "FAILED",
    "cancelled": "CANCELED",
}

_Model = Literal["meshy-5", "meshy-6", "latest"]
_Prompt = Annotated[str, Meta(min_length=1, max_length=600)]
_TexturePrompt = Annotated[str, Meta(max_length=600)]


class _Common(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Fields of all requests. GLB is the only format that the simulator can make."""

    ai_model: _Model = "latest"
    moderation: bool = False
    target_formats: tuple[Literal["glb"], ...] = ("glb",)
    auto_size: bool = False
    origin_at: Literal["bottom", "center"] = "bottom"

    @property
    def is_newest(self) -> bool:
        return self.ai_model != "meshy-5"


class _Shape(_Common, kw_only=True):
    """Fields of the requests that make a mesh."""

    model_type: Literal["standard", "lowpoly"] = "standard"
    topology: Literal["triangle", "quad"] = "triangle"
    target_polycount: Annotated[int, Meta(ge=100, le=300_000)] = 30_000
    should_remesh: bool = False
    symmetry_mode: Literal["off", "auto", "on"] = "auto"
    pose_mode: Literal["", "a-pose", "t-pose"] = ""


class Preview(_Shape, kw_only=True, tag_field="mode", tag="preview"):
    prompt: _Prompt


class Refine(_Common, kw_only=True, tag_field="mode", tag="refine"):
    preview_task_id: str
    enable_pbr: bool = False
    texture_prompt: _TexturePrompt = ""
    remove_lighting: bool = True


class ImageTo3D(_Shape, kw_only=True):
    image_url: str
    should_texture: bool = True
    enable_pbr: bool = False
    texture_prompt: _TexturePrompt = ""
    image_enhancement: bool = True
    remove_lighting: bool = True
    save_pre_remeshed_model: bool = False


async def submit_text(arrival: Arrival) -> None:
    """Begin a preview, or refine one. Raises `Refused`."""
    body: Preview | Refine = bodies.decode(arrival.body, Preview | Refine)  # type: ignore[arg-type]
    if isinstance(body, Refine):
        await _refine(arrival, body)
        return
    exchange, prompt = tasks.order(arrival, model=body.ai_model, prompt=body.prompt)
    asset = Asset(prompt, prompt, is_textured=False)
    details = _details("text-to-3d-preview", prompt, 20 if body.is_newest else 5)
    details["whole_prompt"] = body.prompt
    await _begin(arrival, tasks.new_task(exchange, asset, details))


async def submit_image(arrival: Arrival) -> None:
    """Begin a model of a picture. Raises `Refused`."""
    body = bodies.decode(arrival.body, ImageTo3D)
    picture = await references.from_address(body.image_url)
    exchange, prompt = tasks.order(
        arrival, model=body.ai_model, prompt=body.texture_prompt, pictures=(picture,)
    )
    price = (20 if body.is_newest else 5) + (10 if body.should_texture else 0)
    asset = Asset(prompt, prompt, body.should_texture, picture)
    details = _details(_IMAGE, "", price) | {"texture_prompt": prompt}
    await _begin(arrival, tasks.new_task(exchange, asset, details))


async def poll_text(arrival: Arrival) -> None:
    """The state of a preview or a refined model. Raises `Refused`."""
    await _poll(arrival, _named(arrival, arrival.path["name"], _TEXT))


async def poll_image(arrival: Arrival) -> None:
    """The state of a model of a picture. Raises `Refused`."""
    await _poll(arrival, _named(arrival, arrival.path["name"], _IMAGE))


async def remove_text(arrival: Arrival) -> None:
    """Cancel a task; delete one that has ended. Raises `Refused`."""
    await _remove(arrival, _named(arrival, arrival.path["name"], _TEXT))


async def remove_image(arrival: Arrival) -> None:
    """Cancel a task; delete one that has ended. Raises `Refused`."""
    await _remove(arrival, _named(arrival, arrival.path["name"], _IMAGE))


async def _refine(arrival: Arrival, body: Refine) -> None:
    """Without a prompt for the texture, the steering line of the preview counts."""
    preview = _named(arrival, body.preview_task_id, "text-to-3d-preview")
    asset = preview.product
    if preview.state != "succeeded" or not isinstance(asset, Asset):
        raise Refused(Problem(400, "The preview task has not succeeded."))
    prompt = body.texture_prompt or preview.details["whole_prompt"]
    exchange, shown = tasks.order(arrival, model=body.ai_model, prompt=prompt)
    refined = Asset(asset.prompt, asset.seed, is_textured=True)
    details = _details("text-to-3d-refine", preview.details["prompt"], 10)
    if body.texture_prompt:
        details["texture_prompt"] = shown
    await _begin(arrival, tasks.new_task(exchange, refined, details))


async def _begin(arrival: Arrival, task: MediaTask) -> None:
    if task.options.refusal:
        raise Refused(Problem(400, "The prompt was flagged by content moderation."))
    await tasks.submit(arrival, task, {"result": task.id}, status=202)


async def _poll(arrival: Arrival, task: MediaTask) -> None:
    await tasks.poll(arrival, task, lambda task, state: _shown(arrival, task, state))


async def _remove(arrival: Arrival, task: MediaTask) -> None:
    if task.state in tasks.ENDED:
        task.is_deleted = True
    task.cancel()
    await tasks.acknowledge(arrival, task, status=200)


def _named(arrival: Arrival, name: str, kind: str) -> MediaTask:
    task = tasks.find_task(arrival, name)
    if not task.details["type"].startswith(kind):
        raise Refused(Problem(404))
    return task


def _details(kind: str, prompt: str, price: int) -> Json:
    return {"type": kind, "prompt": prompt, "credits": price}


def _shown(arrival: Arrival, task: MediaTask, state: State) -> Json:
    call, details = task.exchange.call, task.details
    started = round(call.started_at * 1000)
    is_made = state == "succeeded"
    glb = results.signed_url(arrival, task, "glb") if is_made else ""
    shown: Json = {
        "id": task.id,
        "type": details["type"],
        "status": _STATUSES[state],
        "progress": round(100 * task.progress) if state != "queued" else 0,
        "prompt": details["prompt"],
        "texture_prompt": details.get("texture_prompt", ""),
        "model_urls": {"glb": glb} if is_made else {},
        "thumbnail_url": results.signed_url(arrival, task, "png") if is_made else "",
        "texture_urls": [],
        "task_error": {"message": _failure(task) if state == "failed" else ""},
        "preceding_tasks": task.queue + 1 if state == "queued" else 0,
        "consumed_credits": details["credits"] if is_made else 0,
        "created_at": started,
        "started_at": 0 if state == "queued" else started,
        "finished_at": round((call.ended_at or 0) * 1000),
        "expires_at": started + _LIFETIME_MS if is_made else 0,
    }
    return shown


def _failure(task: MediaTask) -> str:
    moderated = "The task was blocked by content moderation."
    return moderated if task.options.blocked else "The task has failed."


_ERRORS = {
    401: "Invalid API key",
    402: "Insufficient credits",
    404: "Task not found",
    429: "RateLimitExceeded",
}


class Meshy(BearerProvider):
    """Errors in Meshy's form."""

    def error(self, problem: Problem, request_id: str) -> Json:
        return {"message": problem.message or _ERRORS.get(problem.status, "Internal error")}
