"""The body of Anthropic's `POST /v1/messages`.

Protocol: Anthropic's API reference, "Messages", and its guides "Define tools", "Handle tool calls",
"Structured outputs", "Preserved thinking" and "Vision". `max_tokens` bounds thinking and text
together. Sampling parameters are never sent: the newer models refuse them.

A schema that the provider enforces is the format of the answer. Any other JSON is the input of a
tool that the model has to call. Claude Opus 5.5, Sonnet 5.5 and Fable 5.1 refuse a forced choice
("What's new in Claude Opus 5.5", section "Forced tool use is not supported"): there an instruction
asks for that call, and the reader of the answer takes nothing but JSON for an answer.

Where a choice is forced, models do not think before they call ("Define tools"), and some refuse
thinking beside it ("Extended thinking"), so that it is neither asked for nor sent back.
"""

from typing import Any

from ai.providers.anthropic_schemas import arguments_fault, enforced, enforced_fault
from ai.providers.anthropic_thinking import RedactedThinking, Thinking, Thought, read_thoughts
from ai.providers.call_ids import own_id, read_call_id
from ai.providers.errors import Unsupported
from ai.providers.turns import arguments_of, conversation, parts_of, sides
from ai.providers.types import ChatRequest, InputImage, JsonOutput, Message, Tool, ToolCall, Tools

_NO_FORCED_CHOICE = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5", "claude-mythos-5")
_ANSWER = "Gives the answer: its input is the JSON object that was asked for."
_INSTRUCTION = "Give your answer by calling the function `{}`, and write nothing else."

Block = dict[str, Any] | Thought


def check(request: ChatRequest) -> None:
    """See `ChatWire.check`."""
    tools, output = request.tools, request.output
    for index, tool in enumerate(tools.functions if tools else ()):
        fault = arguments_fault(tool.parameters)
        if fault is None and tool.strict:
            fault = enforced_fault(_input_schema(tool.parameters))
        if fault:
            raise Unsupported(str(fault), param=f"tools[{index}].function.parameters")
    if tools and tools.choice in ("required", "named") and not _may_force(request):
        raise Unsupported(
            "The model decides itself whether it calls a tool, and which one.", param="tool_choice"
        )
    if output and output.schema is not None:
        fault = enforced_fault(output.schema)
        if fault and not output.strict:
            fault = arguments_fault(output.schema)
        if fault:
            raise Unsupported(str(fault), param="response_format.json_schema.schema")


def body_of(request: ChatRequest) -> dict[str, Any]:
    """The fields of the body."""
    system, turns = conversation(request.messages)
    answer = answer_tool(request)
    if answer and not _may_force(request):
        system = "\n\n".join(filter(None, (system, _INSTRUCTION.format(answer))))
    tools = _tools(request, answer, turns)
    thinks = tools.get("tool_choice", {}).get("type") not in ("any", "tool")
    messages = [
        {
            "role": "assistant" if is_assistant else "user",
            "content": _content(group, thinks=thinks),
        }
        for is_assistant, group in sides(turns)
    ]
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": messages,
        "stream": True,
    }
    if system:
        body["system"] = system
    if thinks:
        body |= _thinking(request, has_thoughts=_have_thoughts(messages))
    return body | _output_config(request) | tools


def answer_tool(request: ChatRequest) -> str:
    """The name of the tool by which the model gives an answer in JSON; empty where it has none."""
    output, tools = request.output, request.tools
    if output is None or _is_format(output) or (tools and tools.choice in ("required", "named")):
        return ""
    taken = {tool.name for tool in tools.functions} if tools else set()
    name = output.name
    while name in taken:
        name += "_"
    return name


def _is_format(output: JsonOutput) -> bool:
    return output.schema is not None and enforced_fault(output.schema) is None


def _may_force(request: ChatRequest) -> bool:
    return not request.model.startswith(_NO_FORCED_CHOICE)


def _thinking(request: ChatRequest, *, has_thoughts: bool) -> dict[str, Any]:
    """Thoughts come back with calls alone, and clients may change what is before them. The provider
    leaves out those that do not fit any more, instead of refusing the request."""
    thinking: dict[str, Any] = {"type": "adaptive"}
    if request.reasoning_effort:
        # Without the field `display`, thinking is billed but its text is empty.
        thinking["display"] = "summarized"
    if has_thoughts:
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    return {"thinking": thinking} if len(thinking) > 1 else {}


def _output_config(request: ChatRequest) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if request.reasoning_effort:
        config["effort"] = request.reasoning_effort
    output = request.output
    if output and output.schema is not None and _is_format(output):
        config["format"] = {"type": "json_schema", "schema": enforced(output.schema)}
    return {"output_config": config} if config else {}


def _tools(request: ChatRequest, answer: str, turns: list[Message]) -> dict[str, Any]:
    """The tools and the choice among them. A conversation with calls needs their definitions, even
    where no more are wanted."""
    tools = request.tools
    defined = [_definition(tool) for tool in tools.functions] if tools else []
    choice = _choice(tools) if tools else {}
    if answer and request.output:
        is_alone = tools is None or tools.choice == "none"
        choice = _answering(choice, answer, is_alone=is_alone, is_forced=_may_force(request))
        defined.append(_answer_definition(answer, request.output))
    elif tools is None:
        names = dict.fromkeys(call.name for turn in turns for call in turn.tool_calls)
        defined = [_definition(Tool(name)) for name in names]
        choice = {"type": "none"} if defined else {}
    body: dict[str, Any] = {}
    if defined:
        body["tools"] = defined
    if choice:
        body["tool_choice"] = choice
    return body


def _definition(tool: Tool) -> dict[str, Any]:
    definition: dict[str, Any] = {"name": tool.name}
    if tool.description:
        definition["description"] = tool.description
    definition["input_schema"] = _input_schema(tool.parameters)
    if tool.strict:
        definition["input_schema"] = enforced(definition["input_schema"])
        definition["strict"] = True
    return definition


def _answer_definition(name: str, output: JsonOutput) -> dict[str, Any]:
    description = f"{_ANSWER} {output.description}".strip()
    return _definition(Tool(name, description, output.schema or {}))


def _input_schema(schema: Any) -> dict[str, Any]:
    return {"type": "object", **schema}


def _choice(tools: Tools) -> dict[str, Any]:
    choice: dict[str, Any]
    match tools.choice:
        case "none":
            return {"type": "none"}
        case "required":
            choice = {"type": "any"}
        case "named":
            choice = {"type": "tool", "name": tools.named}
        case "auto":
            choice = {"type": "auto"}
    if not tools.parallel:
        choice["disable_parallel_tool_use"] = True
    return choice if choice != {"type": "auto"} else {}


def _answering(
    choice: dict[str, Any], name: str, *, is_alone: bool, is_forced: bool
) -> dict[str, Any]:
    """The choice with the tool that gives the answer: alone, or beside those of the request."""
    if is_alone:
        one: dict[str, Any] = {"type": "tool", "name": name} if is_forced else {"type": "auto"}
        return {**one, "disable_parallel_tool_use": True}
    return {**choice, "type": "any"} if is_forced else choice


def _content(group: list[Message], *, thinks: bool) -> str | list[Block]:
    """The blocks of one side, as a text where that is all."""
    [first, *others] = group
    if not (others or first.parts or first.tool_calls or first.role == "tool"):
        return first.text
    return [block for turn in group for block in _blocks(turn, thinks=thinks)]


def _blocks(turn: Message, *, thinks: bool) -> list[Block]:
    match turn.role:
        case "assistant":
            return _assistant_blocks(turn, thinks=thinks)
        case "tool":
            return [_result(turn)]
    return [_part(part) for part in parts_of(turn)]


def _assistant_blocks(turn: Message, *, thinks: bool) -> list[Block]:
    """The thoughts before each call, the text before the first one."""
    text = [_part(part) for part in parts_of(turn) if isinstance(part, str)]
    blocks: list[Block] = []
    for call in turn.tool_calls:
        if thinks:
            blocks += read_thoughts(read_call_id(call.id, "a").state)
        blocks += text
        blocks.append(_tool_use(call))
        text = []
    return blocks + text


def _tool_use(call: ToolCall) -> dict[str, Any]:
    own = own_id(call.id)
    return {"type": "tool_use", "id": own, "name": call.name, "input": arguments_of(call)}


def _result(turn: Message) -> dict[str, Any]:
    content = [_part(part) for part in parts_of(turn)] if turn.parts else turn.text
    own = own_id(turn.tool_call_id)
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": own}
    return {**result, "content": content} if content else result


def _part(part: str | InputImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    # The bytes are written as base64.
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def _have_thoughts(messages: list[dict[str, Any]]) -> bool:
    return any(
        isinstance(block, (Thinking, RedactedThinking))
        for message in messages
        for block in message["content"]
    )
