"""The functions and the form of the answer in OpenAI's `POST /v1/chat/completions`."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from simulator import schemas
from simulator.functions import Choice, Function, Offer, Schema
from simulator.provider import Problem, Refused
from simulator.vendors import Vendor

MAX_TOOLS = 128
MAX_NAME = 64
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_CHOICES: tuple[Choice, ...] = ("none", "auto", "required")


class Definition(msgspec.Struct):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(msgspec.Struct):
    type: Literal["function"]
    function: Definition


class NamedFunction(msgspec.Struct):
    name: str


class NamedChoice(msgspec.Struct):
    type: Literal["function"]
    function: NamedFunction


class SchemaForm(msgspec.Struct):
    name: str
    schema: dict[str, Any] | None = None
    description: str | None = None
    strict: bool | None = None


class ResponseFormat(msgspec.Struct):
    type: str
    json_schema: SchemaForm | None = None


def offered(
    tools: list[Tool] | None,
    choice: str | NamedChoice | None,
    parallel: bool | None,
    vendor: Vendor,
) -> Offer | None:
    """The functions of a request. Raises `Refused` for what the provider does not take."""
    if tools is None:
        for name, value in (("tool_choice", choice), ("parallel_tool_calls", parallel)):
            if value is not None and value != "none":
                words = f"'{name}' is only allowed when 'tools' are specified."
                raise _refused(f"Invalid value for '{name}': {words}", name)
        return None
    _check_length("tools", len(tools), MAX_TOOLS)
    for index, tool in enumerate(tools):
        _check_tool(tool.function, f"tools[{index}].function")
    functions = tuple(
        Function(
            each.function.name, each.function.description or "", each.function.parameters or {}
        )
        for each in tools
    )
    word, named = _choice(choice, vendor)
    offer = Offer(functions, word, named, parallel=parallel is not False)
    if complaint := offer.complaint():
        raise _refused(f"Invalid value for 'tool_choice': {complaint}", "tool_choice")
    return offer


def output_of(form: ResponseFormat | None, texts: list[str], vendor: Vendor) -> Schema | None:
    """The schema of the answer, an empty one for any object, None for prose. Raises `Refused`."""
    if form is None or form.type == "text":
        return None
    if form.type not in vendor.outputs:
        words = f"Invalid value: '{form.type}'. Supported values are: 'text', "
        supported = ", ".join(f"'{each}'" for each in vendor.outputs)
        raise _refused(f"{words}{supported}.", "response_format.type")
    if form.type == "json_object":
        if vendor.wants_the_word_json and "json" not in " ".join(texts).lower():
            words = (
                "'messages' must contain the word 'json' in some form, to use 'response_format' "
                "of type 'json_object'."
            )
            raise _refused(words, "messages")
        return {}
    return _schema_of(form)


def _schema_of(form: ResponseFormat) -> Schema:
    place = "response_format.json_schema"
    if form.json_schema is None:
        raise _missing(place)
    _check_name(form.json_schema.name, f"{place}.name")
    schema = form.json_schema.schema
    if schema is None:
        raise _missing(f"{place}.schema")
    subject = f"response_format '{form.json_schema.name}'"
    _check_schema(schema, subject, place, strict=form.json_schema.strict)
    return schema


def _choice(choice: str | NamedChoice | None, vendor: Vendor) -> tuple[Choice, str]:
    if isinstance(choice, NamedChoice):
        return "named", choice.function.name
    if choice == "any" and vendor.short_ids:  # Mistral's own word
        return "required", ""
    for word in _CHOICES:
        if choice == word:
            return word, ""
    if choice is None:
        return "auto", ""
    words = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
    raise _refused(words, "tool_choice")


def _check_tool(definition: Definition, place: str) -> None:
    _check_name(definition.name, f"{place}.name")
    if definition.parameters:
        subject = f"function '{definition.name}'"
        _check_schema(
            definition.parameters, subject, f"{place}.parameters", strict=definition.strict
        )


def _check_name(name: str, place: str) -> None:
    if len(name) > MAX_NAME:
        words = (
            f"Invalid '{place}': string too long. Expected a string with maximum length "
            f"{MAX_NAME}, but got a string with length {len(name)} instead."
        )
        raise _refused(words, place, "string_above_max_length")
    if not _NAME.fullmatch(name):
        words = "string does not match pattern. Expected a string that matches the pattern "
        raise _refused(f"Invalid '{place}': {words}'^[a-zA-Z0-9_-]+$'.", place)


def _check_length(place: str, length: int, most: int) -> None:
    if not length:
        words = "empty array. Expected an array with minimum length 1, but got an empty array."
        raise _refused(f"Invalid '{place}': {words}", place, "empty_array")
    if length > most:
        words = (
            f"array too long. Expected an array with maximum length {most}, but got an array "
            f"with length {length} instead."
        )
        raise _refused(f"Invalid '{place}': {words}", place, "array_above_max_length")


def _check_schema(
    schema: Mapping[str, Any], subject: str, place: str, *, strict: bool | None
) -> None:
    if schema.get("type") != "object":
        found = schema.get("type")
        words = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{found}\"'."
        raise _refused(
            f"Invalid schema for {subject}: {words}", place, "invalid_function_parameters"
        )
    complaint = schemas.malformed(schema) or (_loose(schema, ()) if strict else None)
    if complaint:
        raise _refused(
            f"Invalid schema for {subject}: {complaint}", place, "invalid_function_parameters"
        )


def _loose(schema: Any, place: tuple[str, ...]) -> str | None:
    """What of a schema cannot be strict: objects name all their properties, and require them."""
    if isinstance(schema, list):
        found = (_loose(each, (*place, str(index))) for index, each in enumerate(schema))
        return next(filter(None, found), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            words = "'additionalProperties' is required to be supplied and to be false."
            return f"In context={place}, {words}"
        missing = set(schema.get("properties") or {}) - set(schema.get("required") or ())
        if missing:
            return (
                f"In context={place}, 'required' is required to be supplied and to be an array "
                f"including every key in properties. Missing '{min(missing)}'."
            )
    parts = (word for word in schema if word not in ("enum", "const", "default", "examples"))
    return next(filter(None, (_loose(schema[word], (*place, word)) for word in parts)), None)


def _missing(place: str) -> Refused:
    return _refused(f"Missing required parameter: '{place}'.", place, "missing_required_parameter")


def _refused(words: str, param: str, code: str = "invalid_value") -> Refused:
    return Refused(Problem(400, words, code, param))
