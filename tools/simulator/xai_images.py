"""xAI's `POST /v1/images/generations` and `/v1/images/edits`: OpenAI's paths with requests of its
own."""

import math
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from simulator import images, references
from simulator.exchange import Arrival, Exchange
from simulator.memory import StoredPicture
from simulator.pictures import Picture
from simulator.provider import Json, Problem, Refused

_EDGES = {"1k": 1024, "1.5k": 1536, "2k": 2048}  # pixels, of a square
_PRICES = {
    ("1k", "low"): 0.04,
    ("1k", "medium"): 0.06,
    ("2k", "medium"): 0.08,
}  # USD for each picture
_TICKS_PER_USD = 10**10

T = TypeVar("T")


class ImagesBody(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    prompt: Annotated[str, Meta(min_length=1)]
    n: Annotated[int, Meta(ge=1, le=10)] = 1
    response_format: Literal["url", "b64_json"] = "url"
    aspect_ratio: Literal[
        "1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "2:1", "1:2", "20:9", "9:20"
    ] = "1:1"
    resolution: Literal["1k", "1.5k", "2k"] = "1k"
    quality: Literal["low", "medium"] = "medium"
    user: str = ""

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height: the area of the resolution's square, in multiples of 16."""
        across, down = (int(part) for part in self.aspect_ratio.split(":"))
        edge = _EDGES[self.resolution]
        return _stepped(edge * math.sqrt(across / down)), _stepped(edge * math.sqrt(down / across))


class _Image(msgspec.Struct, forbid_unknown_fields=True):
    url: str  # a data URI, or an address on this machine
    type: Literal["image_url"] = "image_url"


class EditBody(ImagesBody):
    """One picture, or several."""

    image: _Image | None = None
    images: Annotated[list[_Image], Meta(min_length=1, max_length=5)] | None = None

    @property
    def given(self) -> list[_Image]:
        return [self.image] if self.image is not None else self.images or []


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    return await _make(arrival, _read(arrival.body, ImagesBody), ())


async def edit(arrival: Arrival) -> str:
    """Answer a call with pictures. Raises `Refused`, `CallerGone`."""
    body = _read(arrival.body, EditBody)
    if (body.image is None) == (body.images is None):
        raise Refused(Problem(400, "Give either `image` or `images`."))
    given = [await references.from_address(image.url) for image in body.given]
    return await _make(arrival, body, tuple(given))


async def _make(arrival: Arrival, body: ImagesBody, given: tuple[bytes, ...]) -> str:
    exchange, pictures = images.order(
        arrival,
        model=body.model,
        prompt=body.prompt,
        n=body.n,
        size=body.pixels,
        quality=f"{body.resolution} {body.quality}",
        references=given,
    )
    if exchange.steering.blocked:
        raise Refused(Problem(400, "The prompt was rejected by content moderation."))
    inside = body.response_format == "b64_json" and not exchange.steering.refusal

    def answer() -> Json:
        items = [_item(arrival, exchange, picture, inside=inside) for picture in pictures]
        price = _PRICES.get((body.resolution, body.quality), 0.06) * len(pictures)
        return {"data": items, "usage": {"cost_in_usd_ticks": round(price * _TICKS_PER_USD)}}

    return await images.send(exchange, answer, len(pictures) if inside else 0)


def _read(body: bytes, form: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Argument not supported: {error}")) from error


def _item(arrival: Arrival, exchange: Exchange, picture: Picture, *, inside: bool) -> Json:
    """A picture in an answer; one that moderation withholds has neither bytes nor a URL."""
    item = {"mime_type": "image/png", "revised_prompt": ""}
    if exchange.steering.refusal:
        return item | {"respect_moderation": False}
    where = (
        {"b64_json": images.encoded(exchange, picture)}
        if inside
        else {
            "url": images.store(arrival, StoredPicture(picture, exchange.call, exchange.steering))
        }
    )
    return item | where | {"respect_moderation": True}


def _stepped(length: float) -> int:
    return round(length / 16) * 16
