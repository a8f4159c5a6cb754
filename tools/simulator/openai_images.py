"""OpenAI's `POST /v1/images/generations` and `POST /v1/images/edits`."""

import re
import time
from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator import forms, images, references
from simulator.exchange import Arrival, Exchange
from simulator.pictures import Picture
from simulator.provider import Json, Problem, Refused

_SIZE = re.compile(r"([1-9]\d{1,3})x([1-9]\d{1,3})")
_SQUARE = 1024 * 1024
_MAX_REFERENCES = 16
_REFERENCE_TOKENS = 272  # a tile and a base
# Output tokens of a picture of 1024x1024.
_TOKENS = {"low": 196, "medium": 439, "high": 1756, "xhigh": 3122, "max": 7025}


class ImagesBody(msgspec.Struct):
    model: str
    prompt: Annotated[str, Meta(min_length=1, max_length=32_000)]
    n: Annotated[int, Meta(ge=1, le=10)] = 1
    size: str = "auto"
    quality: Literal["auto", "low", "medium", "high", "xhigh", "max"] = "auto"
    background: Literal["transparent", "opaque", "auto"] = "auto"
    moderation: Literal["low", "auto"] = "auto"
    output_format: Literal["png"] = "png"  # the only format that the simulator can make
    output_compression: int = 100
    user: str = ""

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height. Raises `Refused` for a size that the models do not have."""
        if self.size == "auto":
            return 1024, 1024
        found = _SIZE.fullmatch(self.size)
        width, height = (int(found[1]), int(found[2])) if found else (0, 0)
        short, long = sorted((width, height))
        if width % 16 or height % 16 or not 0 < long <= min(3 * short, 3840) or short > 2160:
            raise Refused(Problem(400, f"Invalid size '{self.size}'.", "invalid_value", "size"))
        return width, height


class EditBody(ImagesBody):
    """The fields of an edit without its pictures."""

    input_fidelity: Literal["low", "high"] = "low"


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    return await _make(arrival, _read(arrival.body), ())


async def edit(arrival: Arrival) -> str:
    """Answer a call with pictures, `image` or `image[]` of a form. Raises `Refused`,
    `CallerGone`."""
    form = forms.read_multipart(arrival)
    given = [*form.pop("image", []), *form.pop("image[]", [])]
    for mask in form.pop("mask", []):
        references.read_picture(mask)
    if not 1 <= len(given) <= _MAX_REFERENCES:
        message = f"Give 1 to {_MAX_REFERENCES} images."
        raise Refused(Problem(400, message, "missing_required_parameter", "image"))
    try:
        fields = {name: values[-1].decode() for name, values in form.items()}
        body = msgspec.convert(fields, EditBody, strict=False)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}", "invalid_value")) from error
    _require_known(fields.keys(), EditBody)
    return await _make(arrival, body, tuple(references.read_picture(data) for data in given))


async def _make(arrival: Arrival, body: ImagesBody, given: tuple[bytes, ...]) -> str:
    quality = "medium" if body.quality == "auto" else body.quality
    exchange, pictures = images.order(
        arrival,
        model=body.model,
        prompt=body.prompt,
        n=body.n,
        size=body.pixels,
        quality=quality,
        references=given,
    )
    if exchange.steering.blocked or exchange.steering.refusal:
        message = "The request was rejected by the safety system."
        raise Refused(Problem(400, message, "moderation_blocked"))
    return await images.send(exchange, lambda: _answer(exchange, pictures), len(pictures))


def _require_known(names: Iterable[str], form: type[ImagesBody]) -> None:
    for name in sorted(set(names) - set(form.__struct_fields__)):
        raise Refused(Problem(400, f"Unknown parameter: '{name}'.", "unknown_parameter", name))


def _read(body: bytes) -> ImagesBody:
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        request = msgspec.json.decode(body, type=ImagesBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}", "invalid_value")) from error
    _require_known(fields.keys(), ImagesBody)
    return request


def _answer(exchange: Exchange, pictures: list[Picture]) -> Json:
    call = exchange.call
    answer: Json = {
        "created": int(time.time()),
        "data": [{"b64_json": images.encoded(exchange, picture)} for picture in pictures],
        "background": "opaque",
        "output_format": "png",
        "quality": call.quality,
        "size": call.size,
    }
    if exchange.steering.no_usage:
        return answer
    pixels_made = sum(picture.width * picture.height for picture in pictures)
    output = pixels_made * _TOKENS[call.quality or "medium"] // _SQUARE
    return answer | {"usage": _usage(call.prompt_tokens, call.references, output)}


def _usage(prompt: int, given: int, output: int) -> Json:
    seen = given * _REFERENCE_TOKENS
    return {
        "input_tokens": prompt + seen,
        "input_tokens_details": {"text_tokens": prompt, "image_tokens": seen},
        "output_tokens": output,
        "total_tokens": prompt + seen + output,
    }
