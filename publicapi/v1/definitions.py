"""What the definitions of tools and of answers have in common: names, texts, and JSON Schemas."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta

from publicapi.v1.bodies import decode_field
from publicapi.v1.chat_body import Unread
from publicapi.v1.errors import InvalidBody

MAX_SCHEMA_BYTES = 65_536  # as it was sent
MAX_SCHEMA_DEPTH = 64  # of objects and lists in one another

MAX_NAME = 64  # characters

_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME}}}")
Name = Annotated[str, Meta(extra_json_schema={"pattern": f"^{_NAME.pattern}$"})]

_decoder: msgspec.json.Decoder[dict[str, Any] | None]
_decoder = msgspec.json.Decoder(dict[str, Any] | None)


def check_name(name: str, param: str) -> None:
    """Raises InvalidBody for a name that not every provider takes."""
    if not _NAME.fullmatch(name):
        raise InvalidBody(f"A name has 1 to {MAX_NAME} letters, digits, `_` and `-`.", param=param)


def check_text(text: str, param: str) -> None:
    """Raises InvalidBody for a NUL character, which no provider takes."""
    if "\0" in text:
        raise InvalidBody("The text holds a NUL character; remove it.", param=param)


def read_schema(sent: Unread, param: str) -> dict[str, Any]:
    """The schema of a JSON object, without the changes that a provider may need; empty where there
    is none, or where it says nothing. Raises InvalidBody."""
    if size_of(sent) > MAX_SCHEMA_BYTES:
        raise InvalidBody(f"A schema may have {MAX_SCHEMA_BYTES:,} bytes.", param=param)
    schema = None if sent is UNSET else decode_field(_decoder, sent, param)
    if not schema:
        return {}
    for text, depth in _walk(schema):
        if depth > MAX_SCHEMA_DEPTH:
            raise InvalidBody(f"A schema may be {MAX_SCHEMA_DEPTH} levels deep.", param=param)
        if "\0" in text:
            raise InvalidBody("The schema holds a NUL character; remove it.", param=param)
    if schema.get("type") != "object":
        raise InvalidBody(
            "The schema must be that of an object: its `type` must be `object`.", param=param
        )
    return schema


def size_of(sent: Unread) -> int:
    """The bytes of a value as it was sent; 0 where it was not."""
    return 0 if sent is UNSET else memoryview(sent).nbytes


def _walk(schema: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Every name and text, and an empty text for every other value, with its depth."""
    waiting: list[tuple[Any, int]] = [(schema, 1)]
    while waiting:
        value, depth = waiting.pop()
        yield (value if isinstance(value, str) else ""), depth
        if isinstance(value, dict):
            waiting += ((each, depth + 1) for pair in value.items() for each in pair)
        elif isinstance(value, list):
            waiting += ((each, depth + 1) for each in value)
