"""Values that obey a JSON Schema, of what a question names where it can be."""

import math
import re
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from simulator import patterns
from simulator.findings import Findings, joined_in

_MOST_DEPTH = 24  # levels of a value
_SMALL_FROM = 8  # levels: below, lists are as short as they may be
_DEEPEST = 200  # levels of a schema
_FREE_TEXTS = re.compile(
    r"query|question|prompt|text|message|input|task|topic|content|request|search|thought|reason"
    r"|summary|description|facts?|memory|notes?",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"answer|response|result|output|final|reply", re.IGNORECASE)
_EXPRESSIONS = re.compile(r"expression|formula|equation|calc", re.IGNORECASE)
_FORMATS = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "time": "03:04:05Z",
    "duration": "PT1H",
    "email": "alice@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "01890a5d-ac96-774b-bcce-b302099a8057",
}


def malformed(schema: object) -> str | None:
    """What is wrong with a JSON Schema, None where nothing is."""
    if not isinstance(schema, Mapping):
        return "a schema is an object"
    if not _is_shallow(schema):
        return f"it has more than {_DEEPEST} levels"
    try:
        jsonschema_rs.validator_for(dict(schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return str(error).split("\n", 1)[0]
    return None


def _is_shallow(schema: object) -> bool:
    """Has the schema no more levels than `_DEEPEST`?"""
    level: list[object] = [schema]
    for _ in range(_DEEPEST):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return True
    return False


def _parts(value: object) -> list[object]:
    """The objects and arrays in a value."""
    parts = list(value.values()) if isinstance(value, Mapping) else value
    inner = parts if isinstance(parts, list) else []
    return [part for part in inner if isinstance(part, (Mapping, list))]


def obeys(value: object, schema: Mapping[str, Any]) -> bool:
    """Does the value match the schema?"""
    return jsonschema_rs.validator_for(dict(schema)).is_valid(value)


def value_of(schema: Mapping[str, Any], findings: Findings, name: str = "answer") -> Any:
    """A value of the schema, for a property of this name."""
    return _Maker(schema, findings).make(schema, name, 0)


class _Maker:
    """Makes one value of the schema `root`; the same root and findings make the same value."""

    def __init__(self, root: Mapping[str, Any], findings: Findings) -> None:
        self._root = root
        self._found = findings

    def make(self, schema: Any, name: str, depth: int) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._choice(schema["enum"])
        if depth > _MOST_DEPTH:
            return None
        for key in ("anyOf", "oneOf"):
            if schema.get(key):
                return self._alternative(schema, key, name, depth)
        match self._kind(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, name, depth)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return schema.get("default", True)
            case "null":
                return None
        return self._string(schema, name)

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        """The schema with its references and `allOf` in one."""
        if not isinstance(schema, Mapping):
            return {}
        merged = dict(schema)
        for _ in range(_MOST_DEPTH):
            if "$ref" in merged:
                merged = dict(self._target(merged.pop("$ref"))) | merged
            elif "allOf" in merged:
                for part in merged.pop("allOf"):
                    merged = _joined(merged, self._resolved(part))
            else:
                break
        return merged

    def _target(self, reference: str) -> Mapping[str, Any]:
        found: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found[int(key)] if isinstance(found, list) else found.get(key, {})
        return found if isinstance(found, Mapping) else {}

    def _kind(self, schema: Mapping[str, Any]) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            kinds = next((kind for kind in kinds if kind.lower() != "null"), "null")
        if isinstance(kinds, str):
            return kinds.lower()  # Gemini's own form has capitals
        if "properties" in schema:
            return "object"
        return "array" if "items" in schema or "prefixItems" in schema else "string"

    def _choice(self, values: list[Any]) -> Any:
        """The first value that the text names, or the first."""
        named = (each for each in values if isinstance(each, str) and _says(self._found.text, each))
        return next(named, values[0])

    def _alternative(self, schema: Mapping[str, Any], key: str, name: str, depth: int) -> Any:
        """The first alternative that is not null; a deep value takes the one that ends."""
        rest = {word: part for word, part in schema.items() if word != key}
        parts = [_joined(rest, self._resolved(part)) for part in schema[key]]
        if depth > _SMALL_FROM:
            parts.sort(key=lambda part: self._kind(part) in ("object", "array"))
        else:
            parts.sort(key=lambda part: self._kind(part) == "null")
        return self.make(parts[0], name, depth + 1)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The required properties, and those that the question has a value for."""
        properties = schema.get("properties") or {}
        required = schema.get("required") or []
        named = [
            name for name in properties if name in required or self._is_named(properties[name])
        ]
        if not required and not named and depth == 0:
            named = list(properties)[:1]
        named += [name for name in required if name not in properties]
        made = {name: self.make(properties.get(name, {}), name, depth + 1) for name in named}
        missing = schema.get("minProperties", 0) - len(made)
        extra = schema.get("additionalProperties", {})
        for number in range(1, missing + 1):
            made[f"key{number}"] = self.make(extra, f"key{number}", depth + 1)
        return made

    def _is_named(self, schema: Any) -> bool:
        """Does the text name one of the values that an optional property may have?"""
        schema = self._resolved(schema)
        values = schema.get("enum") or []
        return any(isinstance(each, str) and _says(self._found.text, each) for each in values)

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        made = [self.make(part, name, depth + 1) for part in schema.get("prefixItems") or []]
        items = schema.get("items", {})
        least = schema.get("minItems", 0)
        if depth > _SMALL_FROM:
            wanted = least
        else:
            kind = self._kind(self._resolved(items)) if items is not False else ""
            found = {"string": self._found.names, "object": joined_in(self._found.text)}
            found["integer"] = found["number"] = self._found.numbers
            several = 0 if _FREE_TEXTS.search(name) else len(found.get(kind, ()))
            wanted = max(least, 1, several)
        if items is False:
            wanted = 0
        wanted = min(wanted, schema.get("maxItems", wanted))
        while len(made) < wanted:
            made.append(self.make(items, name, depth + 1))
        return _distinct(made) if schema.get("uniqueItems") else made

    def _number(self, schema: Mapping[str, Any], *, whole: bool) -> float | int:
        found = self._found.take_number(whole=whole)
        value = float(found) if found is not None else float(schema.get("default") or 1)
        step = schema.get("multipleOf") or (1 if whole else 0)
        least, most = _bounds(schema, step or 1e-6)
        if not least <= value <= most:
            between = (least + most) / 2
            value = between if math.isfinite(between) else min(max(value, least), most)
        if step:
            value = round(value / step) * step
            value += step * (value < least) - step * (value > most)
        return int(value) if whole or float(value).is_integer() else value

    def _string(self, schema: Mapping[str, Any], name: str) -> str:
        if (form := schema.get("format")) in _FORMATS:
            return _FORMATS[form]
        text = self._free(schema, name)
        pattern = schema.get("pattern")
        if pattern and not patterns.matches(pattern, text):
            text = patterns.example(pattern)
        least = schema.get("minLength", 0)
        if len(text) < least:
            text = (text + " ") * math.ceil(least / (len(text) + 1)) if text else "a" * least
            text = text[:least].rstrip().ljust(least, "a")
        most = schema.get("maxLength")
        return text if most is None else text[:most]

    def _free(self, schema: Mapping[str, Any], name: str) -> str:
        found = self._found
        if found.answer and (_ANSWERS.search(name) or _FREE_TEXTS.search(name)):
            return found.answer
        if found.expression and _EXPRESSIONS.search(name):
            return found.expression
        if _FREE_TEXTS.search(name) and found.whole:
            return found.whole
        if (taken := found.take_name()) is not None:
            return taken
        default = schema.get("default")
        return default if isinstance(default, str) else (found.answer or name)


def _bounds(schema: Mapping[str, Any], step: float) -> tuple[float, float]:
    """The least and the greatest value of a number."""
    least = schema.get("minimum", -math.inf)
    most = schema.get("maximum", math.inf)
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(over, (int, float)) and not isinstance(over, bool):
        least = max(least, over + step)
    if isinstance(under, (int, float)) and not isinstance(under, bool):
        most = min(most, under - step)
    return least, most


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both schemas in one; properties and required ones of both count."""
    merged = {**one, **other}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = [*dict.fromkeys([*one["required"], *other["required"]])]
    return merged


def _says(text: str, word: str) -> bool:
    return bool(word) and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))


def _distinct(values: list[Any]) -> list[Any]:
    """The same values, where several are equal with a number behind them."""
    seen: list[Any] = []
    for number, value in enumerate(values):
        if value not in seen:
            seen.append(value)
        elif isinstance(value, str):
            seen.append(f"{value} {number + 1}")
        elif isinstance(value, (int, float)):
            seen.append(max(seen) + 1)
    return seen
