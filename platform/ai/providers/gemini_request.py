"""The body of Gemini's `generateContent`.

Protocol: Gemini API reference, "Generating content", v1beta, and the guides "Function calling",
"Structured outputs", "Thought signatures" and "Image understanding". `maxOutputTokens` bounds
thoughts and text together. Sampling parameters are never sent: the newer models refuse them.
"""

from typing import Any

from ai.providers.call_ids import own_id, read_call_id
from ai.providers.errors import Unsupported
from ai.providers.instructions import ONE_CALL
from ai.providers.schema_checks import ANNOTATIONS, Schema, adapted, first_fault
from ai.providers.turns import arguments_of, conversation, parts_of, sides
from ai.providers.types import (
    ChatRequest,
    InputImage,
    JsonOutput,
    Message,
    ReasoningEffort,
    Tool,
    Tools,
)

_LEVELS: dict[ReasoningEffort, str] = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
# What the reference names for a call that another model, or nobody, has signed.
_UNSIGNED = "skip_thought_signature_validator"
_PICTURES = frozenset({"image/png", "image/jpeg", "image/webp"})
# "GenerationConfig", `responseJsonSchema`: other keywords are ignored.
_KEYWORDS = ANNOTATIONS | {
    "$anchor",
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "propertyOrdering",
    "required",
    "type",
}


def check(request: ChatRequest) -> None:
    """See `ChatWire.check`."""
    tools, output = request.tools, request.output
    for index, tool in enumerate(tools.functions if tools else ()):
        _check_tool(tool, f"tools[{index}].function")
    if output and output.schema is not None and output.strict:
        _check_schema(output.schema, "response_format.json_schema.schema")
    for index, message in enumerate(request.messages):
        for image in message.images if message.parts else ():
            if image.media_type not in _PICTURES:
                raise Unsupported(
                    f"The model's provider takes no pictures of the type {image.media_type}.",
                    param=f"messages[{index}]",
                )


def body_of(request: ChatRequest) -> dict[str, Any]:
    """The fields of the body."""
    system, turns = conversation(request.messages)
    if request.tools and not request.tools.parallel:
        system = "\n\n".join(filter(None, (system, ONE_CALL)))
    body: dict[str, Any] = {
        "contents": _contents(turns),
        "generationConfig": _generation(request),
    }
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        body |= _tools(request.tools)
    return body


def _check_tool(tool: Tool, param: str) -> None:
    if not (tool.name[:1].isalpha() or tool.name.startswith("_")):
        raise Unsupported(
            f"The model's provider takes names that begin with a letter or `_`: not {tool.name}.",
            param=f"{param}.name",
        )
    if tool.strict:
        _check_schema(tool.parameters, f"{param}.parameters")


def _check_schema(schema: Schema, param: str) -> None:
    if fault := first_fault(adapted(schema, _without_const), _fault_of):
        raise Unsupported(str(fault), param=param)


def _fault_of(schema: Schema) -> str:
    for keyword in schema:
        if keyword not in _KEYWORDS:
            return f"the model's provider does not enforce `{keyword}`"
    if "$ref" in schema and any(not keyword.startswith("$") for keyword in schema):
        return "the model's provider takes nothing beside `$ref`"
    return ""


def _without_const(schema: Schema) -> Schema:
    """A schema with the only value of a text or number as an `enum`: there is no `const`."""
    const = schema.get("const")
    if isinstance(const, bool) or not isinstance(const, (str, int, float)):
        return schema
    others = {keyword: value for keyword, value in schema.items() if keyword != "const"}
    return {"type": "string" if isinstance(const, str) else "number", **others, "enum": [const]}


def _contents(turns: list[Message]) -> list[dict[str, Any]]:
    names = {call.id: call.name for turn in turns for call in turn.tool_calls}
    return [
        {
            "role": "model" if is_model else "user",
            "parts": [part for turn in group for part in _parts(turn, names)],
        }
        for is_model, group in sides(turns)
    ]


def _parts(turn: Message, names: dict[str, str]) -> list[dict[str, Any]]:
    if turn.role == "tool":
        return [_result(turn, names[turn.tool_call_id])]
    parts = [_part(part) for part in parts_of(turn)]
    return parts + _calls(turn) if turn.tool_calls else parts


def _calls(turn: Message) -> list[dict[str, Any]]:
    """Calls with their signatures: of several at once only the first one has one."""
    parts = []
    for index, call in enumerate(turn.tool_calls):
        own, signature = read_call_id(call.id, "g")
        called = {"id": own, "name": call.name, "args": arguments_of(call)}
        part: dict[str, Any] = {"functionCall": called}
        if signature or index == 0:
            part["thoughtSignature"] = signature or _UNSIGNED
        parts.append(part)
    return parts


def _result(turn: Message, name: str) -> dict[str, Any]:
    own = own_id(turn.tool_call_id)
    response: dict[str, Any] = {"id": own, "name": name, "response": {"output": turn.text}}
    if turn.images:
        response["parts"] = [_part(image) for image in turn.images]
    return {"functionResponse": response}


def _part(part: str | InputImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    # The bytes are written as base64.
    return {"inlineData": {"mimeType": part.media_type, "data": part.data}}


def _generation(request: ChatRequest) -> dict[str, Any]:
    generation: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    if request.reasoning_effort:
        level = _LEVELS[request.reasoning_effort]
        generation["thinkingConfig"] = {"thinkingLevel": level, "includeThoughts": True}
    if request.output:
        generation |= _form(request.output)
    return generation


def _form(output: JsonOutput) -> dict[str, Any]:
    form: dict[str, Any] = {"responseMimeType": "application/json"}
    if output.schema is not None:
        form["responseJsonSchema"] = adapted(output.schema, _without_const)
    return form


def _tools(tools: Tools) -> dict[str, Any]:
    body: dict[str, Any] = {
        "tools": [{"functionDeclarations": [_declaration(tool) for tool in tools.functions]}]
    }
    if config := _calling(tools):
        body["toolConfig"] = {"functionCallingConfig": config}
    return body


def _declaration(tool: Tool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name}
    if tool.description:
        declaration["description"] = tool.description
    if tool.parameters:
        declaration["parametersJsonSchema"] = adapted(tool.parameters, _without_const)
    return declaration


def _calling(tools: Tools) -> dict[str, Any]:
    """Arguments follow their schema where a call is forced, and in the mode VALIDATED."""
    match tools.choice:
        case "none":
            return {"mode": "NONE"}
        case "required":
            return {"mode": "ANY"}
        case "named":
            return {"mode": "ANY", "allowedFunctionNames": [tools.named]}
        case "auto":
            is_strict = any(tool.strict for tool in tools.functions)
            return {"mode": "VALIDATED"} if is_strict else {}
