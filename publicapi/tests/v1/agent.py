"""What agents send: a tool, questions to a model that has it, and calls with their results."""

from typing import Any

import httpx
import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.test_chat_stream import chunks

Message = dict[str, Any]

# A model on each wire, all with an allowance in Max.
WIRES = (IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash")
EACH_WIRE = pytest.mark.parametrize("model", WIRES)

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": CITY,
    },
}
QUESTION = "What is the weather in Paris?"


def user(agent: Customer, question: str = QUESTION, **steering: Any) -> Message:
    """A turn of the user."""
    return {"role": "user", "content": agent.prompt(question, **steering)}


def body_of(agent: Customer, question: str = QUESTION, **fields: Any) -> dict[str, Any]:
    """A question to a model with a tool. Any field can be given, `messages` too."""
    return {"model": IN_PLAN, "messages": [user(agent, question)], "tools": [WEATHER], **fields}


def message_of(response: httpx.Response) -> Message:
    """The message of an answer, whole or streamed. Nothing that was sent is ignored."""
    assert response.status_code == 200, response.text
    assert "x-ignored-parameters" not in response.headers
    if response.headers["content-type"] == "application/json":
        message: Message = response.json()["choices"][0]["message"]
        return message
    return joined(chunks(response))


def joined(stream: list[dict[str, Any]]) -> Message:
    """The message that the chunks of a stream are pieces of."""
    calls: dict[int, dict[str, Any]] = {}
    words: dict[str, str] = {}
    for chunk in stream:
        delta = chunk["choices"][0]["delta"]
        for name in ("content", "refusal", "reasoning_content"):
            words[name] = words.get(name, "") + (delta.get(name) or "")
        for piece in delta.get("tool_calls", []):
            empty = {"type": "function", "id": "", "function": {"name": "", "arguments": ""}}
            call = calls.setdefault(piece["index"], empty)
            call["id"] += piece.get("id", "")
            call["function"]["name"] += piece["function"].get("name", "")
            call["function"]["arguments"] += piece["function"]["arguments"]
    reasoning = words.pop("reasoning_content")
    message: Message = {"role": "assistant", **{name: text or None for name, text in words.items()}}
    message |= {"reasoning_content": reasoning} if reasoning else {}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


def call(call_id: str = "call_1", arguments: str = '{"city": "Paris"}', **function: Any) -> Message:
    """A call of the tool."""
    called = {"name": "get_weather", "arguments": arguments, **function}
    return {"id": call_id, "type": "function", "function": called}


def asks(*calls: Message, **fields: Any) -> Message:
    """A turn in which the model asks for calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def result(call_id: str = "call_1", content: Any = "Sunny.") -> Message:
    """The result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def results_of(turn: Message) -> list[Message]:
    """A result for each call of a turn, which names its number."""
    return [result(each["id"], f"Result {n}.") for n, each in enumerate(turn["tool_calls"])]
