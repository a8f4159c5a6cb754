"""Answers in JSON: by a schema or, where there is none, in the form that the prompt shows."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from simulator import schemas
from simulator.findings import find, named_in

_SIGN = re.compile(r"[A-Z][A-Z_]+")
_KEYS = re.compile(r"\b(?:key|field|propert)", re.IGNORECASE)


def written(schema: Mapping[str, Any], texts: Sequence[str], question: str, told: str) -> str:
    """The JSON that obeys the schema. An empty schema takes any object: one that obeys the schema
    in the prompt, or has the properties of the last example there, or the keys that the question
    names. `told` is what is said of results and pictures; what the question names comes before
    what they name."""
    said = _without_schemas(question)
    names = [named.text for text in (said, told) for named in named_in(text)]
    findings = find(f"{said}\n{told}", names, told or " ".join(said.split())[:200])
    if not schema:
        schema = shown(texts) or _ANY
    return json.dumps(schemas.value_of(schema, findings), ensure_ascii=False)


_TEXT = {"type": "string"}
_ANY = {"type": "object", "properties": {"answer": _TEXT}, "required": ["answer"]}


def shown(texts: Sequence[str]) -> dict[str, Any] | None:
    """The schema of the object that the prompt shows; None where it shows none."""
    example = _example(texts)
    schema: dict[str, Any] | None = example if _is_schema(example) else _schema_of(example)
    return schema or (_schema_of_keys(texts[-1]) if texts else None)


def _schema_of_keys(question: str) -> dict[str, Any] | None:
    """A schema with a text for each key in quotes, where the question speaks of keys."""
    keys = [named.text for named in named_in(question) if named.text.isidentifier()]
    if not keys or not _KEYS.search(question):
        return None
    return {"type": "object", "properties": dict.fromkeys(keys, _TEXT), "required": keys}


def _example(texts: Sequence[str]) -> Any:
    """The last object in JSON that stands in a text, is no part of another, and is not empty; nor
    are its lists, as in `{"facts": []}`, which says what to return where there is nothing."""
    found = (value for text in reversed(texts) for value, _, _ in _objects(text))
    return next((value for value in found if any(each != [] for each in value.values())), None)


def _objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """The objects in JSON that are no part of another, the last one first, and where each ends and
    begins."""
    decoder = json.JSONDecoder()
    start = text.rfind("{")
    while start >= 0:
        if not _is_inside(text, start):
            with suppress(ValueError, RecursionError):
                yield (*decoder.raw_decode(text, start), start)
        start = text.rfind("{", 0, start)


def _without_schemas(text: str) -> str:
    """What the text says besides the schemas in it, whose words name nothing."""
    for value, end, start in _objects(text):
        if _is_schema(value):
            text = text[:start] + text[end:]
    return text


def _is_inside(text: str, start: int) -> bool:
    """Does the object belong to another one that begins before it?"""
    before = start - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    follows = text[before] if before >= 0 else ""
    return follows == "[" or follows == "," or text[max(0, before - 1) : before + 1] == '":'


def _is_schema(value: Any) -> bool:
    """Is the object a JSON Schema of objects?"""
    is_one = isinstance(value, dict) and isinstance(value.get("properties"), dict)
    return is_one and schemas.malformed(value) is None


def _schema_of(example: Any) -> dict[str, Any] | None:
    """A schema of the example's own form; every property is required. None for no example."""
    match example:
        case None:
            return None
        case dict():
            parts = {name: _schema_of(value) or {"type": "null"} for name, value in example.items()}
            return {"type": "object", "properties": parts, "required": list(parts)}
        case list():
            return {
                "type": "array",
                "items": (_schema_of(example[0]) if example else {"type": "string"}),
            }
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "integer" if isinstance(example, int) else "number"}
    # A word in capitals stands for itself: `"event": "ADD"`.
    return {"const": example} if _SIGN.fullmatch(example) else {"type": "string"}
