"""Google's Veo on Vertex AI: `:predictLongRunning`, `:fetchPredictOperation` and `:cancel`.

Its client library is `google-genai`. Results are in the answer to the poll, or in Cloud Storage
where the request names a place there.
"""

from base64 import b64decode, b64encode
from binascii import Error as InvalidBase64
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import references
from simulator.exchange import Arrival
from simulator.google_provider import standard_base64
from simulator.media import bodies, films, results, tasks
from simulator.media.films import Film, InvalidFilm
from simulator.media.tasks import MediaTask, State
from simulator.media.vertex_provider import require_current_token
from simulator.provider import Json, Problem, Refused

_MODELS = ("veo-3.1-generate-001", "veo-3.1-fast-generate-001")
_EXTENSION_SECONDS = 7
_MAX_BEFORE_SECONDS = 30
_TYPES = "type.googleapis.com/cloud.ai.large_models.vision."
_CANCELLED, _INVALID_ARGUMENT, _INTERNAL = 1, 3, 13  # google.rpc.Code
_CHUNK = 48 * 1024  # divisible by three, so that the base64 of chunks can be joined


class _Fields(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A message of Google's interface."""


class _Media(_Fields):
    """A picture or a clip: its bytes, or its place in Cloud Storage."""

    mime_type: Literal["image/png", "image/jpeg", "image/webp", "video/mp4"] | None = None
    bytes_base64_encoded: str | None = None
    gcs_uri: str | None = None


class _ReferenceImage(_Fields):
    image: _Media
    reference_type: Literal["asset", "style"]


class _Instance(_Fields):
    prompt: Annotated[str, Meta(min_length=1)]
    image: _Media | None = None
    last_frame: _Media | None = None
    video: _Media | None = None
    reference_images: Annotated[list[_ReferenceImage], Meta(max_length=3)] = []


class _Parameters(_Fields):
    """`durationSeconds` of an extension are 7; `sampleCount` is all that the simulator can make."""

    sample_count: Literal[1] = 1
    duration_seconds: Literal[4, 6, 7, 8] | None = None
    aspect_ratio: Literal["16:9", "9:16"] = "16:9"
    resolution: Literal["720p", "1080p", "4k"] = "720p"
    negative_prompt: str = ""
    person_generation: Literal["dont_allow", "allow_adult", "allow_all"] = "allow_adult"
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] | None = None
    storage_uri: Annotated[str, Meta(pattern="^gs://[^/]+")] | None = None
    generate_audio: bool = True
    enhance_prompt: bool = True
    compression_quality: Literal["optimized", "lossless"] = "optimized"
    resize_mode: Literal["crop", "pad"] = "pad"


class PredictBody(_Fields):
    instances: Annotated[list[_Instance], Meta(min_length=1, max_length=1)]
    parameters: _Parameters = msgspec.field(default_factory=_Parameters)
    labels: dict[str, str] = {}


class FetchBody(_Fields):
    operation_name: str


async def submit(arrival: Arrival) -> None:
    """Begin a video. Raises `Refused`."""
    require_current_token(arrival)
    model = arrival.path["model"]
    if model not in _MODELS:
        raise Refused(Problem(404, f"Publisher model `{model}` was not found."))
    body = bodies.decode(arrival.body, PredictBody)
    (instance,) = body.instances
    start, end = (_picture(media) for media in (instance.image, instance.last_frame))
    given = [_picture(reference.image) for reference in instance.reference_images]
    exchange, prompt = tasks.order(
        arrival, model=model, prompt=instance.prompt, pictures=(start, end, *given)
    )
    film = _film(arrival, body, prompt, start or next(iter(given), None), end)
    exchange.call.seconds, exchange.call.size = film.seconds, body.parameters.resolution
    details = {"parent": _parent(arrival), "storage": body.parameters.storage_uri}
    task = tasks.new_task(exchange, film, details)
    await tasks.submit(arrival, task, {"name": _name(task)})


async def poll(arrival: Arrival) -> None:
    """The state of an operation, with its result. Raises `Refused`."""
    require_current_token(arrival)
    body = bodies.decode(arrival.body, FetchBody)
    task = tasks.find_task(arrival, body.operation_name.rpartition("/")[2])
    if body.operation_name != _name(task) or task.details["parent"] != _parent(arrival):
        raise Refused(Problem(400, "The operation is not one of this model."))
    await tasks.poll(arrival, task, _shown, _send)


async def cancel(arrival: Arrival) -> None:
    """Cancel an operation, if it still runs. Raises `Refused`."""
    require_current_token(arrival)
    task = tasks.find_task(arrival, arrival.path["name"])
    task.cancel()
    await tasks.acknowledge(arrival, task, status=200, payload={})


async def show_object(arrival: Arrival) -> None:
    """A result in Cloud Storage: the bucket and the name of the object. Raises `Refused`."""
    require_current_token(arrival)
    place = "gs://{bucket}/{object}".format(**arrival.path)
    task = tasks.find_task(arrival, place.split("/")[-2])
    if place != _place(task):
        raise Refused(Problem(404, "No such object."))
    await results.send_file(arrival, task, "mp4")


def _film(
    arrival: Arrival, body: PredictBody, prompt: str, start: bytes | None, end: bytes | None
) -> Film:
    (instance,), parameters = body.instances, body.parameters
    if end is not None and instance.image is None:
        raise Refused(Problem(400, "`lastFrame` needs an `image`."))
    seed, audio = f"{prompt} {parameters.seed}", parameters.generate_audio
    if instance.video is not None:
        if start is not None or parameters.duration_seconds not in (None, _EXTENSION_SECONDS):
            raise Refused(Problem(400, "An extension has 7 seconds, and no image."))
        before = _clip(arrival, instance.video)
        arrival.call.references += 1
        return _extension(before, prompt, seed, audio=audio)
    seconds = parameters.duration_seconds or 8
    if seconds == _EXTENSION_SECONDS:
        raise Refused(Problem(400, "Unsupported durationSeconds: 7."))
    size = films.frame_size(parameters.resolution, parameters.aspect_ratio)
    return Film(prompt, seconds, size, seed, audio, start=start, end=end)


def _extension(before: bytes, prompt: str, seed: str, *, audio: bool) -> Film:
    try:
        facts = films.read_metadata(before)
    except InvalidFilm as error:
        raise Refused(Problem(400, f"The video cannot be read: {error}")) from error
    if facts.seconds > _MAX_BEFORE_SECONDS:
        raise Refused(Problem(400, "The video is longer than 30 seconds."))
    return Film(prompt, _EXTENSION_SECONDS, facts.size, facts.seed or seed, audio, before=before)


def _picture(media: _Media | None) -> bytes | None:
    if media is None:
        return None
    if media.bytes_base64_encoded is None or media.mime_type in (None, "video/mp4"):
        raise Refused(Problem(400, "An image has bytesBase64Encoded and a mimeType."))
    return references.from_base64(standard_base64(media.bytes_base64_encoded))


def _clip(arrival: Arrival, media: _Media) -> bytes:
    """The bytes of a clip, which may be a result in Cloud Storage."""
    if media.mime_type != "video/mp4":
        raise Refused(Problem(400, "A video has the mimeType video/mp4."))
    if media.gcs_uri is None:
        try:
            return b64decode(standard_base64(media.bytes_base64_encoded or ""), validate=True)
        except InvalidBase64 as error:
            raise Refused(Problem(400, f"Invalid base64: {error}")) from error
    source = tasks.find_task(arrival, media.gcs_uri.split("/")[-2])
    data = source.product.make_file("mp4") if source.state == "succeeded" else None
    if data is None:
        raise Refused(Problem(400, "There is no such object."))
    return data


def _parent(arrival: Arrival) -> str:
    """The name of the model that the path names."""
    parent = "projects/{project}/locations/{location}/publishers/google/models/{model}"
    return parent.format(**arrival.path)


def _name(task: MediaTask) -> str:
    return f"{task.details['parent']}/operations/{task.id}"


def _place(task: MediaTask) -> str:
    return f"{str(task.details['storage']).rstrip('/')}/{task.id}/sample_0.mp4"


def _shown(task: MediaTask, state: State) -> Json:
    shown: Json = {"name": _name(task)}
    if state not in tasks.ENDED:
        return shown
    shown["done"] = True
    if state == "cancelled":
        return shown | {"error": {"code": _CANCELLED, "message": "The operation was cancelled."}}
    options = task.options
    if options.refusal:
        message = "The prompt could not be submitted: it violates the usage guidelines."
        return shown | {"error": {"code": _INVALID_ARGUMENT, "message": message}}
    if state == "failed" and not options.blocked:
        code = int(options.code or _INTERNAL)
        return shown | {"error": {"code": code, "message": "An internal error has occurred."}}
    response: Json = {"@type": f"{_TYPES}GenerateVideoResponse", "raiMediaFilteredCount": 0}
    if options.blocked:
        reason = "The video violates the usage guidelines. Support codes: 58061214"
        response |= {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": [reason]}
    else:
        response["videos"] = [{"gcsUri": _place(task), "mimeType": "video/mp4"}]
    return shown | {"response": response}


async def _send(arrival: Arrival, task: MediaTask, shown: Json) -> None:
    """Send an answer, with the bytes of the result where it has no place in Cloud Storage."""
    connection = arrival.connection
    if task.details["storage"] is not None or "videos" not in shown.get("response", {}):
        await connection.send_json(200, shown)
        return
    task.exchange_for(arrival, "file")
    file = await results.file_body(task, "mp4")
    shown["response"]["videos"] = [{"bytesBase64Encoded": "*", "mimeType": "video/mp4"}]
    head, _, tail = msgspec.json.encode(shown).partition(b"*")
    await connection.start(200, {"content-type": "application/json"})
    await connection.write(head)
    for first in range(0, file.size, _CHUNK):
        await connection.write(b64encode(file.part(first, first + _CHUNK)))
    await connection.end(tail)
    task.exchange.call.files_emitted += 1
