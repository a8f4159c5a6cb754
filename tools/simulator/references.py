"""Pictures that come with a request: read as the providers read them, and kept small."""

import asyncio
import io
from base64 import b64decode
from binascii import Error as InvalidBase64
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image, UnidentifiedImageError

from simulator import insets
from simulator.identity import on_this_machine
from simulator.provider import Problem, Refused

_MAX_BYTES = 20 * 1024 * 1024
_MAX_EDGE = 256  # pixels of what is kept
_FORMATS = ("PNG", "JPEG", "WEBP")
_TIMEOUT = 5  # seconds


def read_picture(data: bytes) -> bytes:
    """A small PNG of the picture, with its description. Raises `Refused` for what is no picture."""
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            description = insets.description_of(opened)
            small = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise Refused(Problem(400, f"Invalid image: {error}", param="image")) from error
    small.thumbnail((_MAX_EDGE, _MAX_EDGE))
    return insets.encode_png(small, description)


def from_base64(text: str) -> bytes:
    """Raises `Refused`."""
    try:
        return read_picture(b64decode(text, validate=True))
    except InvalidBase64 as error:
        raise Refused(Problem(400, f"Invalid base64: {error}", param="image")) from error


def from_data_uri(uri: str) -> bytes:
    """A picture in `data:image/...;base64,...`. Raises `Refused`."""
    head, _, text = uri.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise Refused(Problem(400, "Invalid data URI of an image.", param="image"))
    return from_base64(text)


async def from_url(url: str) -> bytes:
    """A picture from an address on this machine. Raises `Refused`."""
    return read_picture(await asyncio.to_thread(_fetched, on_this_machine(url)))


async def from_address(url: str) -> bytes:
    """A picture in a data URI, or from an address on this machine. Raises `Refused`."""
    return from_data_uri(url) if url.startswith("data:") else await from_url(url)


def _fetched(url: str) -> bytes:
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:  # noqa: S310 - http, on this machine
            data: bytes = answer.read(_MAX_BYTES + 1)
    except (URLError, OSError, ValueError) as error:
        message = f"The image cannot be fetched: {error}"
        raise Refused(Problem(400, message, param="image")) from error
    return data
