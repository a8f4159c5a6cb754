"""Tripo's 3D models: `/v2/openapi/task` and `/upload`.

Its client library is `tripo3d`. An answer has a code, which is zero where all went well.
"""

from typing import Annotated, Literal
from uuid import uuid4

import msgspec
from msgspec import Meta

from simulator import forms, references
from simulator.exchange import Arrival, Exchange
from simulator.media import bodies, results, tasks
from simulator.media.glb import Asset
from simulator.media.tasks import MediaTask, State
from simulator.provider import BearerProvider, Json, Problem, Refused

_SECONDS_PER_POLL = 2
_STATUSES: dict[State, str] = {
    "queued": "queued",
    "running": "running",
    "succeeded": "success",
    "failed": "failed",
    "cancelled": "cancelled",
}
# Other ends of a task, which can be steered by `finish`.
_ENDS = ("cancelled", "unknown", "banned", "expired")


class _TextureText(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The picture: one that was uploaded, or a URL."""

    type: Literal["jpg", "jpeg", "png", "webp"]
    file_token: str | None = None
    url: str | None = None


class _Common(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    model_version: Literal["v2.0-20240919", "v2.5-20250123", "v3.0-20250812", "v3.1-20260211"] = (
        "v2.5-20250123"
    )
    texture: bool = True
    pbr: bool = True
    texture_seed: int | None = None
    texture_quality: Literal["standard", "detailed"] = "standard"

    @property
    def has_texture(self) -> bool:
        return self.texture or self.pbr


class _Shape(_Common, kw_only=True):
    """`quad` would make an FBX file, which the simulator cannot."""

    face_limit: Annotated[int, Meta(ge=48, le=500_000)] | None = None
    model_seed: int | None = None
    auto_size: bool = False
    quad: Literal[False] = False
    geometry_quality: Literal["standard", "detailed"] = "standard"
    smart_low_poly: bool = False


class TextToModel(_Shape, kw_only=True, tag_field="type", tag="text_to_model"):
    prompt: Annotated[str, Meta(min_length=1, max_length=1024)]
    negative_prompt: Annotated[str, Meta(max_length=255)] = ""
    image_seed: int | None = None


class ImageToModel(_Shape, kw_only=True, tag_field="type", tag="image_to_model"):
    file: _File
    texture_alignment: Literal["original_image", "geometry"] = "original_image"
    enable_image_autofix: bool = False


class TextureModel(_Common, kw_only=True, tag_field="type", tag="texture_model"):
    original_model_task_id: str
    texture_prompt: _TextureText | None = None


_Body = TextToModel | ImageToModel | TextureModel


async def upload(arrival: Arrival) -> None:
    """Keep a picture, and return its token. Raises `Refused`."""
    data = forms.read_multipart(arrival).get("file")
    if data is None:
        raise Refused(Problem(400, "The form has no file."))
    token = str(uuid4())
    arrival.memory.uploads.keep(token, references.read_picture(data[0]))
    await arrival.connection.send_json(200, _wrapped({"image_token": token}))


async def submit(arrival: Arrival) -> None:
    """Begin a task. Raises `Refused`."""
    body: _Body = bodies.decode(arrival.body, _Body)  # type: ignore[arg-type]
    exchange, asset = await _ordered(arrival, body)
    if exchange.steering.refusal:
        raise Refused(Problem(400, "The content violates the content policy.", "2008"))
    task = tasks.new_task(exchange, asset, _details(arrival, body))
    await tasks.submit(arrival, task, _wrapped({"task_id": task.id}))


async def poll(arrival: Arrival) -> None:
    """The state of a task. Raises `Refused`."""
    task = tasks.find_task(arrival, arrival.path["name"])
    await tasks.poll(arrival, task, lambda task, state: _shown(arrival, task, state))


async def _ordered(arrival: Arrival, body: _Body) -> tuple[Exchange, Asset]:
    if isinstance(body, TextureModel):
        return _textured(arrival, body)
    picture = await _picture(arrival, body.file) if isinstance(body, ImageToModel) else None
    prompt = body.prompt if isinstance(body, TextToModel) else ""
    exchange, shown = tasks.order(
        arrival, model=body.model_version, prompt=prompt, pictures=(picture,)
    )
    seed = f"{shown} {body.model_seed}"
    return exchange, Asset(shown, seed, body.has_texture, picture)


def _textured(arrival: Arrival, body: TextureModel) -> tuple[Exchange, Asset]:
    """Without a prompt for the texture, the steering line of the original counts."""
    original = tasks.find_task(arrival, body.original_model_task_id)
    asset = original.product
    if original.state != "succeeded" or not isinstance(asset, Asset):
        raise Refused(Problem(400, "The original task has not succeeded.", "2006"))
    prompt = body.texture_prompt.text if body.texture_prompt else original.details["prompt"]
    exchange, _ = tasks.order(arrival, model=body.model_version, prompt=prompt)
    return exchange, Asset(asset.prompt, asset.seed, True, asset.picture)


async def _picture(arrival: Arrival, file: _File) -> bytes:
    if (file.file_token is None) == (file.url is None):
        raise Refused(Problem(400, "Give a file_token or a url.", "1004"))
    if file.url is not None:
        return await references.from_url(file.url)
    picture = arrival.memory.uploads.get(file.file_token or "")
    if picture is None:
        raise Refused(Problem(400, "The file_token is unknown.", "2003"))
    return picture


def _details(arrival: Arrival, body: _Body) -> Json:
    prompt = body.prompt if isinstance(body, TextToModel) else ""
    fields = bodies.sent_fields(arrival.body)
    output = "pbr_model" if body.pbr else "model" if body.texture else "base_model"
    return {"input": fields, "type": fields["type"], "output": output, "prompt": prompt}


def _shown(arrival: Arrival, task: MediaTask, state: State) -> Json:
    status, finish = _STATUSES[state], task.options.finish
    if state == "failed" and finish in _ENDS:
        status = finish
    elif state == "failed" and task.options.blocked:
        status = "banned"
    shown: Json = {
        "task_id": task.id,
        "type": task.details["type"],
        "status": status,
        "input": task.details["input"],
        "output": {},
        "progress": 0 if state == "queued" else round(100 * task.progress),
        "create_time": round(task.exchange.call.started_at),
    }
    if state == "queued":
        shown["queuing_num"] = task.queue + 1
    if state == "running":
        shown["running_left_time"] = _SECONDS_PER_POLL * max(1, task.polls)
    if status == "success":
        shown["output"] = {
            task.details["output"]: results.signed_url(arrival, task, "glb"),
            "rendered_image": results.signed_url(arrival, task, "png"),
        }
    if status in ("failed", "banned"):
        code = task.options.code or ("2008" if status == "banned" else "1000")
        shown |= {"error_code": int(code), "error_msg": f"The task was {status}."}
    return _wrapped(shown)


def _wrapped(data: Json) -> Json:
    return {"code": 0, "data": data}


# The code, and the sentence, for each status.
_ERRORS = {
    400: (1004, "One or more of your parameter is invalid"),
    401: (1002, "Authentication failed"),
    403: (2010, "You don't have enough credit to create this task"),
    404: (2001, "Task not found"),
    429: (2000, "You have exceeded the limit of generation"),
}


class Tripo(BearerProvider):
    """Errors in Tripo's form."""

    def error(self, problem: Problem, request_id: str) -> Json:
        code, message = _ERRORS.get(problem.status, (1000, "Internal error"))
        return {
            "code": int(problem.code or code),
            "message": problem.message or message,
            "suggestion": "Please try again, or contact the support.",
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-tripo-trace-id": request_id}
