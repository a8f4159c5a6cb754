"""The functions and the form of the answer in Anthropic's `POST /v1/messages`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Raw, Struct

from simulator import schemas
from simulator.functions import Choice, Function, Offer

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_AT_THE_TOP = ("oneOf", "allOf", "anyOf")
# What no schema may have that is enforced.
_UNSUPPORTED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "oneOf",
    "not",
    "patternProperties",
    "prefixItems",
)
# They decide for themselves whether they call a function.
_NEVER_FORCED = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5", "claude-mythos-5")
_CHOICES: dict[str, Choice] = {
    "auto": "auto",
    "any": "required",
    "none": "none",
    "tool": "named",
}


class Tool(Struct, forbid_unknown_fields=True):
    name: str
    input_schema: dict[str, Any]
    description: str = ""
    type: Literal["custom"] | None = None
    strict: bool = False
    cache_control: Raw = Raw()
    eager_input_streaming: bool | None = None


class ToolChoice(Struct, forbid_unknown_fields=True):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool = False

    @property
    def is_forced(self) -> bool:
        return self.type in ("any", "tool")


class Format(Struct, forbid_unknown_fields=True):
    type: Literal["json_schema"]
    schema: dict[str, Any]


def offered(tools: list[Tool] | None, choice: ToolChoice | None) -> Offer | None:
    """The functions of a request."""
    if not tools:
        return None
    functions = tuple(Function(each.name, each.description, each.input_schema) for each in tools)
    if choice is None:
        return Offer(functions)
    parallel = not choice.disable_parallel_tool_use
    return Offer(functions, _CHOICES[choice.type], choice.name or "", parallel=parallel)


def complaint(
    tools: list[Tool] | None, choice: ToolChoice | None, *, model: str, thinks: bool
) -> str | None:
    """What is wrong with the functions of a request."""
    return next(_complaints(tools or [], choice, model, thinks=thinks), None)


def format_complaint(form: Format | None) -> str | None:
    """What is wrong with the schema of the answer."""
    if form is None:
        return None
    found = schemas.malformed(form.schema) or _unenforced(form.schema)
    return found and f"output_config.format.schema: {found}"


def _complaints(
    tools: list[Tool], choice: ToolChoice | None, model: str, *, thinks: bool
) -> Iterator[str]:
    names = [tool.name for tool in tools]
    for index, tool in enumerate(tools):
        place = f"tools.{index}.custom"
        if not _NAME.fullmatch(tool.name):
            yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        if tool.input_schema.get("type") != "object":
            yield f"{place}.input_schema.type: Input should be 'object'"
        if any(word in tool.input_schema for word in _NOT_AT_THE_TOP):
            words = "input_schema does not support oneOf, allOf, or anyOf at the top level"
            yield f"{place}.input_schema: {words}"
        found = schemas.malformed(tool.input_schema)
        found = found or (_unenforced(tool.input_schema) if tool.strict else None)
        if found:
            yield f"{place}.input_schema: JSON schema is invalid: {found}"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    if choice is None:
        return
    if not tools:
        yield "tool_choice: may only be specified while providing tools"
    if choice.type == "tool" and choice.name not in names:
        yield f"tool_choice: Tool '{choice.name}' not found in provided tools"
    if choice.is_forced and model.startswith(_NEVER_FORCED):
        yield "tool_choice: Forced tool use is not supported by this model."
    if choice.is_forced and thinks:
        yield "Thinking may not be enabled when tool_choice forces tool use."


def _unenforced(schema: Any) -> str | None:
    """The first thing in a schema that cannot be enforced."""
    if isinstance(schema, list):
        return next(filter(None, map(_unenforced, schema)), None)
    if not isinstance(schema, Mapping):
        return None
    kind = schema.get("type")
    for word in _UNSUPPORTED:
        if word in schema:
            return f"For '{kind}' type, property '{word}' is not supported"
    if schema.get("minItems", 0) not in (0, 1):
        return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if kind == "object" and schema.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    parts = [part for word, part in schema.items() if word not in ("properties", "enum", "const")]
    return next(filter(None, map(_unenforced, [*parts, *_values(schema)])), None)


def _values(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas of the properties, whose names are no keywords."""
    properties = schema.get("properties")
    return list(properties.values()) if isinstance(properties, Mapping) else []
