"""Tools: the model asks for calls of functions, the client answers with their results."""

import json
from typing import Any

import pytest

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.test_chat_stream import chunks

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
EACH_WIRE = pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
QUESTION = "What is the weather in Paris?"

Message = dict[str, Any]


@pytest.fixture
def agent(customer: NewCustomer) -> Customer:
    """Alice, with a key for tools."""
    return customer(features=("tools",))


def asked(agent: Customer, question: str = QUESTION, **fields: Any) -> Message:
    """The message that answers a question to a model with tools."""
    stream = fields.get("stream", False)
    user = {"role": "user", "content": f'{question}\n@sim {{"marker": "{agent.marker}"}}'}
    body = {"model": IN_PLAN, "messages": [user], "tools": [WEATHER], **fields}
    response = agent.post(json=body)
    assert response.status_code == 200, response.text
    assert "x-ignored-parameters" not in response.headers
    return joined(chunks(response)) if stream else response.json()["choices"][0]["message"]


def joined(stream: list[dict[str, Any]]) -> Message:
    """The message that the chunks of a stream are pieces of."""
    calls: dict[int, dict[str, Any]] = {}
    for chunk in stream:
        for piece in chunk["choices"][0]["delta"].get("tool_calls", []):
            first = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            call = calls.setdefault(piece["index"], first)
            call["id"] += piece.get("id", "")
            call["function"]["name"] += piece["function"].get("name", "")
            call["function"]["arguments"] += piece["function"]["arguments"]
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in stream)
    message: Message = {"role": "assistant", "content": text or None, "refusal": None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


@STREAM
def test_the_model_asks_for_a_call(agent: Customer, stream: bool) -> None:
    message = asked(agent, stream=stream)
    [call] = message.pop("tool_calls")
    assert message == {"role": "assistant", "content": None, "refusal": None}
    assert call.pop("id")
    function = call.pop("function")
    assert call == {"type": "function"}
    assert function["name"] == "get_weather"
    assert json.loads(function["arguments"]) == {"city": "Paris"}


@STREAM
def test_it_answers_from_the_result(agent: Customer, stream: bool) -> None:
    turn = asked(agent, stream=stream)
    result = {"role": "tool", "tool_call_id": turn["tool_calls"][0]["id"], "content": "Sunny."}
    messages = [{"role": "user", "content": QUESTION}, turn, result]
    answer = asked(agent, stream=stream, messages=messages)
    assert "tool_calls" not in answer
    assert "Sunny." in answer["content"]


def test_a_stream_brings_the_call_in_pieces(agent: Customer) -> None:
    user = {"role": "user", "content": QUESTION}
    body = {"model": IN_PLAN, "messages": [user], "tools": [WEATHER], "stream": True}
    first, begin, *pieces, last = chunks(agent.post(json=body))
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": None}
    [call] = begin["choices"][0]["delta"]["tool_calls"]
    assert call.pop("id")
    assert call == {
        "index": 0,
        "type": "function",
        "function": {"name": "get_weather", "arguments": ""},
    }
    assert len(pieces) > 1
    for piece in pieces:
        [more] = piece["choices"][0]["delta"]["tool_calls"]
        assert set(more) == {"index", "function"}
        assert set(more["function"]) == {"arguments"}
    assert last["choices"][0] | {"logprobs": None} == {
        "index": 0,
        "delta": {},
        "logprobs": None,
        "finish_reason": "tool_calls",
    }
