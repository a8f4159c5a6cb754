"""The body of `POST /chat/completions` for each OpenAI-compatible provider.

Sampling parameters are never sent: the newer models refuse them.
"""

from typing import Any

import msgspec

from ai.providers.config import Flags
from ai.providers.openai_checks import is_forced
from ai.providers.openai_messages import encode_messages
from ai.providers.types import ChatRequest, JsonOutput, Tool, Tools

# Per cent of the bound that may go into reasoning where a provider has a bound of its own for it.
_THINKING_SHARE = {"low": 10, "medium": 30, "high": 60}
_NO_ARGUMENTS = {"type": "object", "properties": {}}


def encode_request(request: ChatRequest, flags: Flags, *, stream: bool) -> bytes:
    """The JSON of that request."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": encode_messages(request, flags),
        flags.max_field: request.max_output_tokens,
        "stream": stream,
    }
    if stream and flags.send_stream_options:
        body["stream_options"] = {"include_usage": True}
    if flags.effort_form == "thinking_budget":
        body |= _thinking(request, flags)
    elif request.reasoning_effort and flags.effort_map:
        word = flags.effort_map[request.reasoning_effort]
        body[flags.effort_form] = {"effort": word} if flags.effort_form == "reasoning" else word
    if flags.temperature is not None:
        body["temperature"] = flags.temperature
    if request.tools:
        body |= _tools(request.tools, flags)
    if request.output:
        body["response_format"] = _response_format(request.output, flags)
    if flags.requires_parameters and (request.tools or request.output):
        body["provider"] = {"require_parameters": True}
    return msgspec.json.encode(body)


def _thinking(request: ChatRequest, flags: Flags) -> dict[str, Any]:
    """Qwen has separate bounds for reasoning and text: together they get no more than the bound."""
    bound = request.max_output_tokens
    share = _THINKING_SHARE[request.reasoning_effort] if request.reasoning_effort else 0
    budget = bound * share // 100
    if not budget:
        return {"enable_thinking": False}
    return {
        "enable_thinking": True,
        "thinking_budget": budget,
        flags.max_field: bound - budget,
    }


def _tools(tools: Tools, flags: Flags) -> dict[str, Any]:
    if tools.choice == "none" and "none" not in flags.tool_choices:
        return {}
    fields: dict[str, Any] = {"tools": [_tool(tool) for tool in tools.functions]}
    if tools.choice != "auto":  # which is the default
        fields["tool_choice"] = _choice(tools, flags)
    if flags.parallel_calls != "fixed" and tools.parallel != (flags.parallel_calls == "on"):
        fields["parallel_tool_calls"] = tools.parallel
    if (
        is_forced(tools)
        and not flags.forces_while_reasoning
        and flags.effort_form != "thinking_budget"
    ):
        fields["thinking"] = {"type": "disabled"}
    return fields


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters or _NO_ARGUMENTS
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _choice(tools: Tools, flags: Flags) -> str | dict[str, Any]:
    """Where there is one function alone, to require a call and to name the function are the
    same."""
    if tools.choice == "none":
        return "none"
    is_named = tools.choice == "named" or "required" not in flags.tool_choices
    if is_named and "named" in flags.tool_choices:
        name = tools.named or tools.functions[0].name
        return {"type": "function", "function": {"name": name}}
    return flags.required_word


def _response_format(output: JsonOutput, flags: Flags) -> dict[str, Any]:
    if output.schema is None or not flags.enforces_schemas:
        return {"type": "json_object"}
    schema: dict[str, Any] = {"name": output.name, "schema": output.schema}
    if output.description:
        schema["description"] = output.description
    if output.strict:
        schema["strict"] = True
    return {"type": "json_schema", "json_schema": schema}
