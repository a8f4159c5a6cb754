"""The pictures that a request shows to a model: read, fetched and checked before anything is held.

A picture is written into the body as a data URL (RFC 2397), or is fetched from its address.
"""

import asyncio
import binascii
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

from msgspec import Struct

from ai.providers.types import ImageDetail, InputImage
from common.loop_local import LoopLocal
from common.memory_budget import MemoryBudget
from common.places import LoopPlaces
from integrations.safe_http.client import fetch
from integrations.safe_http.errors import (
    AddressRefused,
    AnswerTooLarge,
    OutboundError,
    RedirectRefused,
    UnusableAnswer,
)
from media.probe.errors import UnusablePicture
from media.probe.headers import Header, read_still_header
from media.probe.inspecting import inspect_stills
from publicapi.v1.errors import InvalidBody

T = TypeVar("T")

# What every provider takes. Anthropic: 8,000 pixels a side, 10 MB of base64 each, 32 MB of a
# request (platform.claude.com/docs/en/build-with-claude/vision); more than 20 pictures may have
# 2,000 pixels a side at most. OpenAI: 50 MB in all, 500 pictures (platform.openai.com/docs/guides/
# images-vision). Gemini: 100 MB of a request (ai.google.dev/gemini-api/docs/file-input-methods).
# xAI: 20 MiB each (docs.x.ai/developers/model-capabilities/images/understanding).
MAX_PICTURES = 20
MAX_BYTES = 5_000_000
MAX_BYTES_IN_ALL = 20_000_000
MAX_SIDE = 8_000
# Ours, for the memory and the time of decoding: providers make larger pictures smaller.
MAX_PIXELS = 25_000_000
MAX_PIXELS_IN_ALL = 100_000_000

# Of one address, redirects included.
FETCH_SECONDS = 10.0
_MAX_REDIRECTS = 3
# Addresses that are fetched at the same time: of all accounts, and of one. Others wait.
_MAX_FETCHES = 32
_FETCHES_OF_OWNER = 4
_WAIT_SECONDS = 30.0

# Bytes that the pictures of all requests take until they are checked: their text in the body, and
# what is made of it. More is refused.
_MAX_MEMORY = 256_000_000
_MAX_MEMORY_OF_OWNER = 96_000_000

_MEDIA_TYPES = ("image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]*)*;base64,", re.IGNORECASE)
_LONGEST_START = 200  # characters
# Characters that are decoded at once: other threads wait for as long. A multiple of four.
_AT_ONCE = 1_000_000

_HOW = (
    "Send a picture as a data URL (`data:image/png;base64,...`), or as its public address, which "
    "begins with `https://`."
)
_NO_PICTURE = "This is no PNG, JPEG, WebP or GIF picture."
_TOO_MANY_BYTES = f"A picture may have {MAX_BYTES // 1_000_000} MB. Make it smaller."
_MALFORMED = (
    "The picture's base64 is malformed: encode its bytes with the standard alphabet and padding, "
    "without line breaks."
)

_memory = MemoryBudget(_MAX_MEMORY)
_fetches = LoopLocal(
    lambda: LoopPlaces(_MAX_FETCHES, seconds=_WAIT_SECONDS, each=_FETCHES_OF_OWNER)
)
_threads = ThreadPoolExecutor(_MAX_FETCHES, thread_name_prefix="pictures")


class PictureUrl(Struct, frozen=True):
    """A picture as a request names it: by a data URL or an address. `param` is its place in the
    body."""

    url: str
    detail: ImageDetail
    param: str

    @property
    def is_data(self) -> bool:
        return self.url[:5].lower() == "data:"


class _Loaded(Struct, frozen=True):
    data: bytes
    header: Header


async def load_pictures(pictures: Sequence[PictureUrl], owner: UUID) -> list[InputImage]:
    """The pictures of one request of an account, `owner`, in the same order.

    Raises InvalidBody for one that no model could be shown, and for too many; ServiceUnavailable
    where there is no room or time to look at them.
    """
    if not pictures:
        return []
    if len(pictures) > MAX_PICTURES:
        raise InvalidBody(
            f"A request may have {MAX_PICTURES} pictures; this one has {len(pictures)}. "
            "Leave out the oldest.",
            param=pictures[MAX_PICTURES].param,
        )
    with _memory.share(str(owner), _MAX_MEMORY_OF_OWNER) as share:
        share.reserve(_memory_of(pictures))
        loaded = await _loaded(pictures, owner)
        _check_together(pictures, loaded)
        try:
            await inspect_stills([each.data for each in loaded], owner=owner)
        except UnusablePicture as error:
            raise InvalidBody(
                f"This picture cannot be used. {error.reason}", param=pictures[error.index].param
            ) from None
    return [
        InputImage(
            each.data,
            each.header.media_type,
            each.header.width,
            each.header.height,
            picture.detail,
        )
        for picture, each in zip(pictures, loaded, strict=True)
    ]


def _memory_of(pictures: Sequence[PictureUrl]) -> int:
    """An upper bound of the bytes that they take until they are checked."""
    written = sum(2 * len(picture.url) for picture in pictures)
    addresses = len(_addresses(pictures))
    most_fetched = MAX_BYTES_IN_ALL + _FETCHES_OF_OWNER * MAX_BYTES
    return written + min(addresses * MAX_BYTES, most_fetched)


def _addresses(pictures: Sequence[PictureUrl]) -> list[PictureUrl]:
    """The first picture of each address."""
    found: dict[str, PictureUrl] = {}
    for picture in pictures:
        if not picture.is_data:
            found.setdefault(picture.url, picture)
    return [*found.values()]


async def _loaded(pictures: Sequence[PictureUrl], owner: UUID) -> list[_Loaded]:
    # Those that cost nobody else anything come first.
    written = [picture for picture in pictures if picture.is_data]
    read = iter(await asyncio.to_thread(lambda: [_read(picture) for picture in written]))
    fetched = await _fetch_all(_addresses(pictures), owner)
    return [next(read) if picture.is_data else fetched[picture.url] for picture in pictures]


def _check_together(pictures: Sequence[PictureUrl], loaded: Sequence[_Loaded]) -> None:
    size = pixels = 0
    for picture, each in zip(pictures, loaded, strict=True):
        size += len(each.data)
        pixels += each.header.width * each.header.height
        if size > MAX_BYTES_IN_ALL:
            raise _too_many_in_all(picture)
        if pixels > MAX_PIXELS_IN_ALL:
            raise InvalidBody(
                f"The pictures of a request may have {MAX_PIXELS_IN_ALL // 1_000_000} million "
                "pixels in all. Make them smaller, or leave some out.",
                param=picture.param,
            )


def _too_many_in_all(picture: PictureUrl) -> InvalidBody:
    return InvalidBody(
        f"The pictures of a request may have {MAX_BYTES_IN_ALL // 1_000_000} MB in all. Make them "
        "smaller, or leave some out.",
        param=picture.param,
    )


# --- Written into the body ------------------------------------------------------------------------


def _read(picture: PictureUrl) -> _Loaded:
    """The picture of a data URL. Its bytes say of which type it is: many clients write another."""
    start = _DATA_URL.match(picture.url, 0, _LONGEST_START)
    if start is None:
        raise InvalidBody(_HOW, param=picture.param)
    if start[1].lower() not in _MEDIA_TYPES:
        raise InvalidBody(_NO_PICTURE, param=picture.param)
    if len(picture.url) - start.end() > (MAX_BYTES + 2) // 3 * 4:
        raise InvalidBody(_TOO_MANY_BYTES, param=picture.param)
    return _checked(picture, _decoded(picture, start.end()))


def _decoded(picture: PictureUrl, start: int) -> bytes:
    url = picture.url
    # Of the whole, as a piece may end with padding.
    is_padded_within = url.find("=", start, len(url) - 2) >= 0
    if is_padded_within or (len(url) - start) % 4:
        raise InvalidBody(_MALFORMED, param=picture.param)
    pieces = (url[place : place + _AT_ONCE] for place in range(start, len(url), _AT_ONCE))
    try:
        return b"".join(binascii.a2b_base64(piece, strict_mode=True) for piece in pieces)
    except ValueError:
        raise InvalidBody(_MALFORMED, param=picture.param) from None


def _checked(picture: PictureUrl, data: bytes) -> _Loaded:
    """The picture, if its header says that it is one, and not too large."""
    header = read_still_header(data)
    if header is None:
        raise InvalidBody(_NO_PICTURE, param=picture.param)
    if len(data) > MAX_BYTES:
        raise InvalidBody(_TOO_MANY_BYTES, param=picture.param)
    width, height = header.width, header.height
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise InvalidBody(
            f"This picture has {width:,} x {height:,} pixels. It may have {MAX_SIDE:,} a side, and "
            f"{MAX_PIXELS // 1_000_000} million in all: make it smaller.",
            param=picture.param,
        )
    return _Loaded(data, header)


# --- Fetched --------------------------------------------------------------------------------------


async def _fetch_all(pictures: Sequence[PictureUrl], owner: UUID) -> dict[str, _Loaded]:
    """The pictures by their addresses. The first failure ends all."""
    fetched: dict[str, _Loaded] = {}

    async def add(picture: PictureUrl) -> None:
        async with _fetches.get().acquire(owner):
            fetched[picture.url] = await _to_the_end(_fetch, picture)
        if sum(len(each.data) for each in fetched.values()) > MAX_BYTES_IN_ALL:
            raise _too_many_in_all(picture)

    try:
        async with asyncio.TaskGroup() as group:
            for picture in pictures:
                group.create_task(add(picture))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return fetched


async def _to_the_end(function: Callable[[PictureUrl], T], picture: PictureUrl) -> T:
    """Run `function` in a thread, and wait for its end also where the caller is cancelled: nothing
    can end a thread, and its place is taken until then."""
    work = asyncio.get_running_loop().run_in_executor(_threads, function, picture)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.gather(work, return_exceptions=True)
        raise


def _fetch(picture: PictureUrl) -> _Loaded:
    try:
        answer = fetch(
            picture.url,
            seconds=FETCH_SECONDS,
            max_bytes=MAX_BYTES,
            media_types=_MEDIA_TYPES,
            max_redirects=_MAX_REDIRECTS,
        )
    except OutboundError as error:
        raise InvalidBody(_meaning_of(error), param=picture.param) from None
    if not answer.is_success:
        raise InvalidBody(
            f"The picture's address answered with status {answer.status}.", param=picture.param
        )
    return _checked(picture, answer.body)


def _meaning_of(error: OutboundError) -> str:
    """The sentence for a client. What the other host wrote is not in it."""
    if isinstance(error, AddressRefused):
        return f"{error} {_HOW}"
    if isinstance(error, AnswerTooLarge):
        return _TOO_MANY_BYTES
    if isinstance(error, RedirectRefused):
        return "The picture's address redirects to another host: send the address that it leads to."
    if isinstance(error, UnusableAnswer):
        return "The picture's address does not answer with a PNG, JPEG, WebP or GIF picture."
    return f"The picture could not be fetched: {error} Try again, or send it as a data URL."
