"""Reading the JSON of providers: nonsense is an error, what is no character is made harmless."""

import json
from collections.abc import Callable
from typing import Annotated, TypeVar

from msgspec import DecodeError, Meta, Raw

from providers.errors import UpstreamError

T = TypeVar("T")

Count = Annotated[int, Meta(ge=0, lt=2**31)]  # of tokens


def decode(decoder: Callable[[bytes], T], payload: bytes) -> T:
    """What `decoder` makes of `payload`. Raises UpstreamError where it can make nothing of it."""
    try:
        return decoder(payload)
    except (ValueError, RecursionError):
        pass
    try:
        return decoder(_with_whole_characters(payload))
    except (ValueError, RecursionError):
        raise UpstreamError("The provider sent something that is not an answer.") from None


def is_given(raw: Raw) -> bool:
    """Was this optional field sent, and not as null?"""
    return len(raw) > 0 and bytes(raw) != b"null"


def sensible(decoder: Callable[[Raw], T], raw: Raw) -> T | None:
    """What `decoder` makes of an optional field; None where it is missing or makes no sense."""
    if not is_given(raw):
        return None
    try:
        return decoder(raw)
    except DecodeError:
        return None


def without_nul(text: str) -> str:
    """PostgreSQL stores no NUL."""
    return text.replace("\0", "") if "\0" in text else text


def _with_whole_characters(payload: bytes) -> bytes:
    """The same JSON with U+FFFD for what is no character: broken UTF-8, half a surrogate pair."""
    value = json.loads(payload.decode("utf-8", "replace"))
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
