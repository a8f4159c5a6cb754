"""The functions and the form of the answer in Gemini's `:generateContent`."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from simulator import schemas
from simulator.functions import Function, Offer
from simulator.gemini_parts import Fields

MAX_FUNCTIONS = 128
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


class Declaration(Fields):
    """`parameters` is Google's own form of a schema. Schemas of results change no answer."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return self.parameters_json_schema or self.parameters or {}


class Tool(Fields):
    function_declarations: list[Declaration] = []


class CallingConfig(Fields):
    mode: Literal["AUTO", "ANY", "NONE", "VALIDATED"] = "AUTO"
    allowed_function_names: list[str] = []


class ToolConfig(Fields):
    function_calling_config: CallingConfig | None = None


def declared(tools: list[Tool] | None) -> list[Declaration]:
    return [each for tool in tools or [] for each in tool.function_declarations]


def offered(tools: list[Tool] | None, config: CallingConfig) -> Offer | None:
    """The functions of a request: those that are allowed."""
    allowed = config.allowed_function_names
    functions = tuple(
        Function(each.name, each.description, each.schema)
        for each in declared(tools)
        if not allowed or each.name in allowed
    )
    if not functions:
        return None
    match config.mode:
        case "NONE":
            return Offer(functions, "none")
        case "ANY" if len(allowed) == 1:
            return Offer(functions, "named", allowed[0])
        case "ANY":
            return Offer(functions, "required")
    return Offer(functions)


def complaint(tools: list[Tool] | None, config: CallingConfig | None) -> str | None:
    """What is wrong with the functions of a request."""
    declarations = declared(tools)
    names = [each.name for each in declarations]
    return next(_declaration_complaints(declarations), None) or (
        next(_config_complaints(config, names), None) if config is not None else None
    )


def schema_complaint(schema: Any) -> str | None:
    """What is wrong with a JSON Schema."""
    found = None if schema is None else schemas.malformed(schema)
    return found and f"Invalid JSON schema: {found}"


def _declaration_complaints(declarations: list[Declaration]) -> Iterator[str]:
    place = "GenerateContentRequest.tools[0].function_declarations"
    names = [each.name for each in declarations]
    if len(names) > MAX_FUNCTIONS:
        yield f"{place}: at most {MAX_FUNCTIONS} function declarations are allowed."
    for index, each in enumerate(declarations):
        if not _NAME.fullmatch(each.name):
            yield (
                f"{place}[{index}].name: Invalid function name. Must start with a letter or an "
                "underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), "
                "colons (:), or dashes (-), with a maximum length of 64."
            )
        if each.parameters is not None and each.parameters_json_schema is not None:
            yield f"{place}[{index}]: only one of parameters and parameters_json_schema can be set."
        if found := schema_complaint(each.parameters_json_schema):
            yield f"{place}[{index}].parameters_json_schema: {found}"
    for name in sorted(set(names)):
        if names.count(name) > 1:
            yield f"Duplicate function declaration found: {name}"


def _config_complaints(config: CallingConfig, names: list[str]) -> Iterator[str]:
    if not names:
        yield "Function calling config is set without function_declarations."
    if config.allowed_function_names and config.mode not in ("ANY", "VALIDATED"):
        yield "Allowed function names should only be set when the calling mode is ANY or VALIDATED."
    for name in config.allowed_function_names:
        if name not in names:
            yield f"Allowed function name {name} is not among the function declarations."
