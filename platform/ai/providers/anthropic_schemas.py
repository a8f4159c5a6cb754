"""The part of JSON Schema that Anthropic enforces.

Protocol: Anthropic's guide "Structured outputs", section "JSON Schema limitations". The same part
holds for the form of an answer and for the arguments of strict tools.
"""

import re
from typing import Any

from ai.providers.schema_checks import (
    ANNOTATIONS,
    Fault,
    Schema,
    adapted,
    first_fault,
    is_recursive,
)

_KEYWORDS = ANNOTATIONS | {
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "definitions",
    "enum",
    "format",
    "items",
    "minItems",
    "pattern",
    "properties",
    "required",
    "type",
}
_FORMATS = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "time",
        "uri",
        "uuid",
    }
)
# Backreferences, assertions of what is around, and of the bounds of words.
_PATTERN_OUTSIDE = re.compile(r"\\[1-9]|\\[bB]|\(\?(?!:)")
# The integers that every reader of JSON takes exactly lie between these (RFC 8259, section 6).
_WIDEST = {"minimum": -(2**53 - 1), "maximum": 2**53 - 1}
# What a tool's schema may not have at its top, strict or not.
_NOT_AT_THE_TOP = ("allOf", "anyOf", "oneOf")


def enforced_fault(schema: Schema) -> Fault | None:
    """What the provider cannot enforce of a schema."""
    fault = first_fault(enforced(schema), _fault_of)
    if fault is None and is_recursive(schema):
        return Fault("the model's provider does not enforce recursive schemas", "")
    return fault


def enforced(schema: Schema) -> dict[str, Any]:
    """The schema as the provider enforces it: without the widest bounds of an integer, which
    libraries (Zod among them) write for any integer, and which the provider does not take."""
    return adapted(schema, _without_widest_bounds)


def arguments_fault(schema: Schema) -> Fault | None:
    """What the provider does not take as the schema of a tool's arguments, even one that is not
    strict."""
    if schema.get("type", "object") != "object":
        return Fault("the schema of a tool has to be one of objects", "")
    for keyword in _NOT_AT_THE_TOP:
        if keyword in schema:
            return Fault(
                f"the model's provider takes no `{keyword}` at the top of a tool's schema", ""
            )
    return None


def _without_widest_bounds(schema: Schema) -> Schema:
    if schema.get("type") != "integer":
        return schema
    return {word: value for word, value in schema.items() if _WIDEST.get(word) != value}


def _fault_of(schema: Schema) -> str:
    for keyword, value in schema.items():
        if keyword not in _KEYWORDS or not _is_taken(keyword, value):
            return f"the model's provider does not enforce `{keyword}: {_shown(value)}`"
    if _is_of_objects(schema) and "additionalProperties" not in schema:
        return "the model's provider enforces objects with `additionalProperties: false` alone"
    return ""


def _is_taken(keyword: str, value: Any) -> bool:
    match keyword:
        case "additionalProperties":
            return value is False
        case "minItems":
            return value in (0, 1)
        case "format":
            return value in _FORMATS
        case "enum":
            return isinstance(value, list) and not any(isinstance(x, (dict, list)) for x in value)
        case "$ref":
            return isinstance(value, str) and value.startswith("#")
        case "allOf":
            return isinstance(value, list) and not any("$ref" in inner for inner in value)
        case "pattern":
            return isinstance(value, str) and not _PATTERN_OUTSIDE.search(value)
    return True


def _is_of_objects(schema: Schema) -> bool:
    types = schema.get("type")
    return types == "object" or (isinstance(types, list) and "object" in types)


def _shown(value: Any) -> str:
    return "..." if isinstance(value, (dict, list)) else str(value)[:40]
