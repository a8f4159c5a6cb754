"""JSON in the answer of a model, which may stand between words, in a code block, or not at all."""

import json
from collections.abc import Iterator
from typing import Any

# Where a value may begin: an answer has one or two, and words with braces before them.
_MAX_STARTS = 20

_decoder = json.JSONDecoder()


def find_object(text: str) -> dict[str, Any] | None:
    """The largest JSON object in a text, or None. Its texts can be stored: U+FFFD stands for half a
    surrogate pair, and nothing for NUL.

    The text is data: this raises nothing, and takes a time in proportion to its length.
    """
    found = max(_objects(text), key=lambda each: each[0], default=None)
    if found is None:
        return None
    try:
        return {_storable(key): with_storable_texts(value) for key, value in found[1].items()}
    except RecursionError:
        return None


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects that do not stand within another, each with the length of its text."""
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            yield end - start, value
            start = text.find("{", end)


def with_storable_texts(value: Any) -> Any:
    """The value with texts that can be stored, as in `find_object`. Raises RecursionError."""
    match value:
        case str():
            return _storable(value)
        case list():
            return [with_storable_texts(each) for each in value]
        case dict():
            return {_storable(key): with_storable_texts(each) for key, each in value.items()}
    return value


def _storable(text: str) -> str:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "")
