"""The body of `POST /chat/completions` for each OpenAI-compatible provider.

Sampling parameters are never sent: the newer models refuse them.
"""

from typing import Any

import msgspec

from ai.providers.config import Flags
from ai.providers.types import ChatRequest

# Per cent of the bound that may go into reasoning where a provider has a bound of its own for it.
_THINKING_SHARE = {"low": 10, "medium": 30, "high": 60}


def encode_request(request: ChatRequest, flags: Flags, *, stream: bool) -> bytes:
    """The JSON of that request."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request, flags),
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
    return msgspec.json.encode(body)


def _messages(request: ChatRequest, flags: Flags) -> list[dict[str, str]]:
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    if flags.default_system_message and all(m["role"] != "system" for m in messages):
        messages.insert(0, {"role": "system", "content": flags.default_system_message})
    return messages


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
