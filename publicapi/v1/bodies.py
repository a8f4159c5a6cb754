"""Request bodies: decodes bytes into a struct, and explains what is wrong with them."""

import re
from codecs import BOM_UTF8, getincrementaldecoder
from typing import TypeVar

import msgspec

from publicapi.v1.errors import InvalidBody

T = TypeVar("T")

_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# A longer body is not searched for its error: that takes longer than decoding it.
_MAX_SEARCHED = 1_000_000  # bytes

# 8 MB could hold a million fields, or parts of messages; checking each takes longer than sending
# it.
MAX_TEXTS = 50_000

_UTF_8 = getincrementaldecoder("utf-8")
_CHECKED_AT_ONCE = 1_000_000  # bytes

_PLACE = re.compile(r" - at `\$\.([^`]+)`")
_MISSING = re.compile(r"missing required field `(\w+)`")


class WrongShape(InvalidBody):
    """JSON that does not fit the struct. `field` is the field of the body that is wrong, empty for
    the body itself; `is_missing`: the field, or its value, is missing. The `param` is the exact
    place, like `messages[3].content`."""

    def __init__(self, problem: str) -> None:
        place, missing = _PLACE.search(problem), _MISSING.search(problem)
        steps = [match[1] for match in (place, missing) if match]
        super().__init__(f"The body has a wrong shape: {problem}.", param=".".join(steps) or None)
        self.field = re.split(r"[.\[]", steps[0])[0] if steps else ""
        is_null = "got `null`" in problem and steps == [self.field]
        self.is_missing = is_null or (place is None and missing is not None)


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Raises InvalidBody, WrongShape among them."""
    if not body.strip():
        raise InvalidBody("The body is empty: send a JSON object.")
    if unescaped_quotes(body) > 2 * MAX_TEXTS:
        raise InvalidBody(f"The body holds more than {MAX_TEXTS:,} names and texts.")
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


def decode_field(decoder: msgspec.json.Decoder[T], value: msgspec.Raw, place: str) -> T:
    """Decode a field at `place`, like `messages[3].tool_calls`, that the body's decoder has left as
    it is. Raises InvalidBody, WrongShape among them."""
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as error:
        problem, _, inner = str(error).partition(" - at `$")
        raise WrongShape(f"{problem} - at `$.{place}{inner or '`'}") from None
    except msgspec.DecodeError as error:
        raise InvalidBody(f"`{place}` is not valid JSON: {error}.", param=place) from None
    except RecursionError:
        raise InvalidBody(f"`{place}` is nested too deeply.", param=place) from None


def unescaped_quotes(body: bytes) -> int:
    """One or two for each text and each field name: an upper bound of the objects in a body,
    counted in a fraction of the time of decoding it."""
    return body.count(b'"') - body.count(b'\\"')


def _check_encoding(body: bytes) -> None:
    """Raises UnicodeDecodeError. It checks in chunks: the text of a large body can take four times
    its memory, and is slower to write than to check."""
    if body.isascii():
        return
    decoder = _UTF_8()
    for start in range(0, len(body), _CHECKED_AT_ONCE):
        decoder.decode(body[start : start + _CHECKED_AT_ONCE])
    decoder.decode(b"", final=True)


def _problem(body: bytes, error: msgspec.DecodeError) -> str:
    """The problem in words. The decoder takes half of a surrogate pair for a truncated text."""
    if body.startswith(BOM_UTF8):
        return "It begins with a byte order mark, which JSON does not allow"
    if len(body) <= _MAX_SEARCHED and _HALF_PAIR.search(body):
        return "It holds half of a surrogate pair"
    return str(error)
