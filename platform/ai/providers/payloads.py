"""Decodes the JSON of providers: malformed JSON is an error, invalid characters are replaced, and
halves of characters marked."""

import json
from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec
from msgspec import DecodeError, Meta, Raw, Struct

from ai.providers.errors import UpstreamError
from ai.providers.surrogates import mark_halves

T = TypeVar("T")

Count = Annotated[int, Meta(ge=0, lt=2**31)]  # of tokens
_decode_count = msgspec.json.Decoder(Count, strict=False).decode


def decode(decoder: Callable[[bytes], T], payload: bytes) -> T:
    """`payload`, decoded by `decoder`. Halves of characters in its texts are marked
    (`ai.providers.surrogates`). Raises UpstreamError where it is malformed."""
    try:
        return decoder(payload)
    except (ValueError, RecursionError):
        pass
    try:
        return decoder(_repaired(payload))
    except (ValueError, RecursionError):
        raise UpstreamError("The provider sent something that is not an answer.") from None


def usage_decoder(form: type[T]) -> Callable[[Raw], T]:
    """A decoder of counts, which some providers write as floats: 11.0."""
    return msgspec.json.Decoder(form, strict=False).decode


def note_counts(counts: dict[str, int], fresh: Struct) -> None:
    """Keep the counts of a struct, where it has some. Usage is restated, sometimes with other
    numbers: the last of each counts, but a zero never replaces an earlier count."""
    for name, told in msgspec.structs.asdict(fresh).items():
        count = partial_count(told) if isinstance(told, Raw) else told
        if isinstance(count, int) and (count or name not in counts):
            counts[name] = count


def is_given(raw: Raw) -> bool:
    """Was this optional field sent, and not as null?"""
    return len(raw) > 0 and bytes(raw) != b"null"


def sensible(decoder: Callable[[Raw], T], raw: Raw) -> T | None:
    """An optional field, decoded by `decoder`; None where it is missing or malformed."""
    if not is_given(raw):
        return None
    try:
        return decoder(raw)
    except DecodeError:
        return None


def partial_count(raw: Raw) -> int | None:
    """The count of a part of other tokens: None where it is missing or malformed, for which the
    count of the whole is not given up."""
    return sensible(_decode_count, raw)


def without_nul(text: str) -> str:
    """The text without NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "") if "\0" in text else text


def _repaired(payload: bytes) -> bytes:
    """The same JSON with U+FFFD for broken UTF-8, and marks for halves of characters."""
    value = json.loads(payload.decode("utf-8", "replace"))
    return mark_halves(json.dumps(value, ensure_ascii=False)).encode()
