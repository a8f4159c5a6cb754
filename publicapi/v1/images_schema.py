"""`POST /v1/images/generations`: the body and the answer."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ai.providers.types import ImageQuality, ImageSize
from common.errors import DomainError
from common.titles import shows_something
from publicapi.v1.bodies import WrongShape, decode
from publicapi.v1.errors import InputTooLong, InvalidBody
from publicapi.v1.ignored import ignored_fields

MAX_CHARACTERS = 4_000
MAX_PICTURES = 4

DEFAULT_SIZE: ImageSize = "1024x1024"
# Other interfaces' words for the three of this product.
_QUALITIES: dict[str, ImageQuality] = {
    "low": "low",
    "standard": "standard",
    "medium": "standard",
    "auto": "standard",
    "high": "high",
    "hd": "high",
}
EchoedQuality = Literal["low", "medium", "high"]
# A quality in the client's words.
ECHOED: dict[ImageQuality, EchoedQuality] = {"low": "low", "standard": "medium", "high": "high"}


# --- The body -----------------------------------------------------------------------------------


class ImagesBody(Struct):
    """The fields that have a meaning here; every other one (style, background, user, ...) is
    accepted and ignored."""

    model: Annotated[str, Meta(description="The id of an image model.")]
    prompt: Annotated[
        str,
        Meta(
            description="A description of the pictures.",
            extra_json_schema={"minLength": 1, "maxLength": MAX_CHARACTERS},
        ),
    ]
    n: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_PICTURES)] | None,
        Meta(description="The number of pictures; one by default."),
    ] = None
    size: Annotated[
        ImageSize | Literal["auto"] | None,
        Meta(description="Mapped to the nearest aspect ratio that the model has."),
    ] = None
    quality: Annotated[
        Literal["low", "standard", "medium", "high", "hd", "auto"] | None,
        Meta(description="`standard` by default; `medium` means the same. `hd` means `high`."),
    ] = None
    response_format: Annotated[
        Literal["url"] | None, Meta(description="Pictures are served by URL.")
    ] = None
    stream: Annotated[
        Annotated[bool, Meta(extra_json_schema={"const": False})] | None,
        Meta(description="Pictures are not streamed."),
    ] = None


# --- The answer ---------------------------------------------------------------------------------


class Picture(Struct):
    """One picture."""

    url: Annotated[str, Meta(description="Needs no key and works for 24 hours.")]


class ImageTokens(Struct):
    """Always zero: pictures are billed by the piece."""

    image_tokens: int
    text_tokens: int


class ImageUsage(Struct):
    """The billed usage. The tokens are zero, for clients that expect some."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: ImageTokens
    billed_usd: Annotated[
        float | None,
        Meta(description="US dollars, from plan and balance; null while it is not yet settled."),
    ]


class ImageList(Struct):
    """The pictures: as many as requested, or fewer."""

    created: Annotated[int, Meta(description="Unix seconds.")]
    data: list[Picture]
    size: ImageSize
    quality: Annotated[EchoedQuality, Meta(description="`medium` stands for `standard`.")]
    usage: ImageUsage


# --- Checks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImagesInput:
    """A validated request. `ignored` are the names of fields that have no effect."""

    model: str
    prompt: str
    n: int
    size: ImageSize
    quality: ImageQuality
    ignored: frozenset[str]


_FIELDS = frozenset(ImagesBody.__struct_fields__)
# Values of OpenAI's interface that are the defaults here.
_DEFAULTS: dict[str, tuple[object, ...]] = {
    "background": ("auto",),
    "moderation": ("auto",),
    "output_compression": (100,),
    "output_format": ("png",),
    "partial_images": (0,),
}

_decoder = msgspec.json.Decoder(ImagesBody)

_EXPLANATIONS = {
    "prompt": "`prompt` must be a text.",
    "n": f"`n` must be a number from 1 to {MAX_PICTURES}.",
    "size": "`size` must be `1024x1024`, `1536x1024` or `1024x1536`.",
    "quality": "`quality` must be `low`, `standard` or `high`.",
    "response_format": "`response_format` must be `url`: pictures are served by URL, not inline.",
    "stream": "`stream` must be `false`: pictures are not streamed.",
}


def parse(body: bytes) -> ImagesInput:
    """Check a body. Raises InvalidBody or InputTooLong."""
    try:
        data = decode(_decoder, body)
    except WrongShape as error:
        raise _explained(error) from None
    if data.stream:
        raise InvalidBody(_EXPLANATIONS["stream"], param="stream")
    if not shows_something(data.prompt):
        raise InvalidBody("`prompt` is empty.", param="prompt")
    if len(data.prompt) > MAX_CHARACTERS:
        raise InputTooLong(
            f"`prompt` has {len(data.prompt):,} characters; at most {MAX_CHARACTERS:,} are taken."
        )
    if "\0" in data.prompt:
        raise InvalidBody("`prompt` holds a NUL character; remove it.", param="prompt")
    return ImagesInput(
        model=data.model,
        prompt=data.prompt,
        n=data.n or 1,
        size=DEFAULT_SIZE if data.size is None or data.size == "auto" else data.size,
        quality=_QUALITIES[data.quality or "standard"],
        ignored=frozenset(ignored_fields(body, _FIELDS, _DEFAULTS)),
    )


def _explained(error: WrongShape) -> DomainError:
    explanation = _EXPLANATIONS.get(error.field)
    return InvalidBody(explanation, param=error.field) if explanation else error
