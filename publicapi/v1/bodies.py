"""Request bodies: from bytes to a struct, with a sentence for whatever is wrong with them."""

import re
from codecs import getincrementaldecoder
from typing import TypeVar

import msgspec

from publicapi.v1.errors import InvalidBody

T = TypeVar("T")

_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# A longer body is not searched for what is wrong with it: that takes longer than decoding it.
_MAX_SEARCHED = 1_000_000  # bytes

_UTF_8 = getincrementaldecoder("utf-8")
_CHECKED_AT_ONCE = 1_000_000  # bytes

_PLACE = re.compile(r" - at `\$\.(\w+)")


class WrongShape(InvalidBody):
    """JSON, but not of the struct's shape. `field` is the field of the body with the wrong value,
    empty where it is the body itself or a field is missing."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"The body has a wrong shape: {problem}.")
        place = _PLACE.search(problem)
        self.field = place[1] if place else ""


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Raises InvalidBody, WrongShape among them."""
    try:
        # The decoder does not look into fields it skips, so the encoding is checked for all.
        _check_encoding(body)
    except UnicodeDecodeError:
        raise InvalidBody("The body is not valid UTF-8.") from None
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise WrongShape(str(error)) from None
    except msgspec.DecodeError as error:
        raise InvalidBody(f"The body is not valid JSON: {_problem(body, error)}.") from None
    except RecursionError:
        raise InvalidBody("The body is nested too deeply.") from None


def _check_encoding(body: bytes) -> None:
    """Raises UnicodeDecodeError. Piece by piece: the text of a large body can be four times as
    large, and takes longer to write to memory than to check."""
    if body.isascii():
        return
    decoder = _UTF_8()
    for start in range(0, len(body), _CHECKED_AT_ONCE):
        decoder.decode(body[start : start + _CHECKED_AT_ONCE])
    decoder.decode(b"", final=True)


def _problem(body: bytes, error: msgspec.DecodeError) -> str:
    """The decoder takes half of a surrogate pair for a text that ends too early."""
    if len(body) <= _MAX_SEARCHED and _HALF_PAIR.search(body):
        return "It holds half of a surrogate pair"
    return str(error)
