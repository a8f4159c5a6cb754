"""Pictures in providers' answers: validation, and the choice of the delivered ones; and pictures in
requests."""

import asyncio
import base64
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from ai.providers.errors import (
    AnswerUnusable,
    NothingMade,
    ProviderError,
    ProviderUnavailable,
    RequestRefused,
    UpstreamError,
)
from ai.providers.types import Image, ImageRequest, ImageSize

MAX_PICTURE = 40_000_000  # bytes
MAX_SEED = 2**63 - 1  # that a provider may tell
MAX_ANSWER = 120_000_000  # bytes of an answer with pictures in base64

# For providers that take no size in pixels.
ASPECT_RATIOS: Mapping[ImageSize, str] = MappingProxyType(
    {"1024x1024": "1:1", "1536x1024": "3:2", "1024x1536": "2:3"}
)

_decode_base64 = msgspec.json.Decoder(bytes).decode


def picture_of(data: bytes) -> Image:
    """The picture, with the media type of its first bytes. Raises UpstreamError for other data."""
    if len(data) > MAX_PICTURE:
        raise _no_picture("a picture that is too large")
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Image(data, "image/png")
    if data.startswith(b"\xff\xd8\xff"):
        return Image(data, "image/jpeg")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Image(data, "image/webp")
    raise _no_picture("something that is not a picture")


def picture_in(text: Raw) -> Image:
    """The picture in a JSON string of strict base64, decoded from the answer's own bytes."""
    if len(text) // 4 * 3 > MAX_PICTURE:
        raise _no_picture("a picture that is too large")
    try:
        data = _decode_base64(text)
    except msgspec.DecodeError:
        raise _no_picture("a picture that cannot be read") from None
    return picture_of(data)


def base64_of(picture: Image) -> str:
    """The bytes of a picture for a request in JSON."""
    return base64.b64encode(picture.data).decode()


def data_uri(picture: Image) -> str:
    """A picture as a URL (RFC 2397)."""
    return f"data:{picture.media_type};base64,{base64_of(picture)}"


def body_for_each(request: ImageRequest, body_of: Callable[[ImageRequest], Any]) -> list[bytes]:
    """The JSON for each picture, for providers that make one for each call. Seeds follow one
    another, because equal ones would bring equal pictures."""
    if request.seed is None:
        return [msgspec.json.encode(body_of(request))] * request.n
    return [msgspec.json.encode(body_of(replace(request, seed=seed))) for seed in seeds_of(request)]


def seeds_of(request: ImageRequest) -> list[int | None]:
    """The seed of each picture, in the order of `body_for_each`."""
    return [None if request.seed is None else request.seed + index for index in range(request.n)]


def blocked() -> RequestRefused:
    """The error of a picture that the provider's moderation withheld without a message."""
    return RequestRefused("The provider's moderation refused this picture.", blocked=True)


async def side_by_side(making: Iterable[Coroutine[None, None, Image]]) -> list[Image]:
    """Run the calls concurrently and return their pictures, as `delivered` does. All of them are
    awaited."""
    return delivered(await asyncio.gather(*making, return_exceptions=True))


def delivered(outcomes: Iterable[Image | BaseException]) -> list[Image]:
    """The pictures among `outcomes`. Where there is none, raises the most significant
    ProviderError."""
    pictures: list[Image] = []
    errors: list[ProviderError] = []
    for outcome in outcomes:
        if isinstance(outcome, Image):
            pictures.append(outcome)
        elif isinstance(outcome, ProviderError):
            errors.append(outcome)
        else:
            raise outcome
    if pictures:
        return pictures
    error = max(errors, key=_weight, default=_no_picture("no picture"))
    if isinstance(error, ProviderUnavailable):
        # Another call of the order may have been carried out, and be billed.
        error.turned_away = all(map(_made_nothing, errors))
    raise error


def _weight(error: ProviderError) -> int:
    """The significance of `error`: highest for a refusal, lowest where nothing was made."""
    if isinstance(error, RequestRefused):
        return 4 if error.blocked else 3
    if isinstance(error, ProviderUnavailable):
        return 2
    if isinstance(error, NothingMade):
        return 0
    return 0 if isinstance(error, UpstreamError) and error.retryable else 1


def _made_nothing(error: ProviderError) -> bool:
    return error.turned_away if isinstance(error, ProviderUnavailable) else not _weight(error)


def _no_picture(what: str) -> AnswerUnusable:
    return AnswerUnusable(f"The provider sent {what}.")
