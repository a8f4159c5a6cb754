"""What goes out to Anthropic."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given

from ai.providers.anthropic_request import body_of, check
from ai.providers.call_ids import with_state
from ai.providers.errors import Unsupported
from ai.providers.types import ChatRequest, JsonOutput, Message, Tool, ToolCall, Tools
from common.tests.upstream import Answer, Upstream

from .calls import AMPLE, events_of, request
from .conftest import WireOf
from .tool_calls import CITY, PICTURE, TIME, WEATHER, asking, called, conversations, result

UNFORCED = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"]
THOUGHTS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "b3BhcXVl"},
]

STREAM = Answer([b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'])


async def sent(upstream: Upstream, wire_of: WireOf, call: ChatRequest) -> dict[str, object]:
    """The body of a streamed call; a plain one must be the same, for it is streamed, too."""
    upstream.answer = STREAM
    wire = wire_of("anthropic")
    await events_of(wire, call)
    await wire.complete(call, AMPLE)
    streamed, plain = upstream.calls
    assert streamed.json == plain.json
    return dict(streamed.json)


async def test_a_call(upstream: Upstream, wire_of: WireOf) -> None:
    call = request(Message("system", "Be brief."), Message("user", "Hi é"), bound=7)
    assert await sent(upstream, wire_of, call) == {
        "model": "some-model",
        "max_tokens": 7,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hi é"}],
        "stream": True,
    }
    headers = upstream.calls[0].headers
    assert headers["x-api-key"] == "sk-secret"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert "authorization" not in headers
    assert upstream.calls[0].path.endswith("/v1/messages")


async def test_without_a_system_message_there_is_no_such_field(
    upstream: Upstream, wire_of: WireOf
) -> None:
    assert "system" not in await sent(upstream, wire_of, request())


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
async def test_effort_is_the_same_word_and_shows_what_was_thought(
    upstream: Upstream, wire_of: WireOf, effort: str
) -> None:
    body = await sent(upstream, wire_of, request(effort=effort))
    assert body["output_config"] == {"effort": effort}
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}


async def test_without_an_effort_the_provider_decides(upstream: Upstream, wire_of: WireOf) -> None:
    assert not {"output_config", "thinking"} & (await sent(upstream, wire_of, request())).keys()


def body(*messages: Message, **fields: Any) -> dict[str, Any]:
    """The body of a request as it is sent."""
    sent: dict[str, Any] = json.loads(msgspec.json.encode(body_of(asking(*messages, **fields))))
    return sent


async def test_tools_and_their_results_go_out(upstream: Upstream, wire_of: WireOf) -> None:
    call = asking(
        Message("user", "How is Kyiv?"),
        called(
            ToolCall("toolu_1", "weather", '{"city": "Kyiv"}'),
            ToolCall("toolu_2", "time", ""),
            text="Let me see.",
        ),
        result("toolu_1"),
        result("toolu_2", "", "A clock:", PICTURE),
        Message("user", "Well?"),
        tools=Tools((WEATHER, TIME)),
    )
    body = await sent(upstream, wire_of, call)
    source = {"type": "base64", "media_type": "image/png", "data": "YSBwaWN0dXJl"}
    assert body["tools"] == [
        {"name": "weather", "description": "The weather in a city.", "input_schema": CITY},
        {"name": "time", "input_schema": {"type": "object"}},
    ]
    assert body["messages"] == [
        {"role": "user", "content": "How is Kyiv?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "weather",
                    "input": {"city": "Kyiv"},
                },
                {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {"arguments": ""}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny."},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [
                        {"type": "text", "text": "A clock:"},
                        {"type": "image", "source": source},
                    ],
                },
                {"type": "text", "text": "Well?"},
            ],
        },
    ]
    assert "tool_choice" not in body
    assert "anthropic-beta" not in upstream.calls[0].headers


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        (Tools((WEATHER,)), None),
        (Tools((WEATHER,), parallel=False), {"type": "auto", "disable_parallel_tool_use": True}),
        (Tools((WEATHER,), "none"), {"type": "none"}),
        (Tools((WEATHER,), "none", parallel=False), {"type": "none"}),
        (Tools((WEATHER,), "required"), {"type": "any"}),
        (Tools((WEATHER,), "named", "weather"), {"type": "tool", "name": "weather"}),
        (
            Tools((WEATHER,), "named", "weather", parallel=False),
            {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_the_choice_among_tools(tools: Tools, choice: object) -> None:
    assert body(tools=tools).get("tool_choice") == choice


def test_a_conversation_with_calls_defines_what_it_calls() -> None:
    sent = body(called(ToolCall("a", "weather", "{}")), result("a"))
    assert sent["tools"] == [{"name": "weather", "input_schema": {"type": "object"}}]
    assert sent["tool_choice"] == {"type": "none"}


def test_a_picture_goes_out_between_its_words() -> None:
    [message] = body(Message("user", "Look: What is it?", ("Look:", PICTURE, "What is it?")))[
        "messages"
    ]
    assert [block["type"] for block in message["content"]] == ["text", "image", "text"]


async def test_thoughts_go_back_before_the_text_and_the_calls(
    upstream: Upstream, wire_of: WireOf
) -> None:
    """Where a client has changed what is before them, the provider leaves them out."""
    marked = with_state("toolu_1", "a", json.dumps(THOUGHTS))
    said = called(ToolCall(marked, "weather", "{}"), text="Let me see.")
    body = await sent(upstream, wire_of, asking(said, result(marked), tools=Tools((WEATHER,))))
    messages: Any = body["messages"]
    assert messages[1]["content"] == [
        *THOUGHTS,
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
    ]
    assert messages[2]["content"][0]["tool_use_id"] == "toolu_1"
    assert body["thinking"] == {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    beta = upstream.calls[0].headers["anthropic-beta"]
    assert beta == "thinking-binding-controls-2026-08-01"


@pytest.mark.parametrize(
    ("tools", "output"),
    [
        (Tools((WEATHER,), "required"), None),
        (Tools((WEATHER,), "named", "weather"), None),
        (None, JsonOutput()),
    ],
)
def test_there_is_no_thinking_beside_a_forced_choice(
    tools: Tools | None, output: JsonOutput | None
) -> None:
    marked = with_state("toolu_1", "a", json.dumps(THOUGHTS))
    history = [called(ToolCall(marked, "weather", "{}")), result(marked)]
    sent = body(*history, tools=tools, output=output, effort="high")
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["tool_use"]
    assert "thinking" not in sent
    assert sent["output_config"] == {"effort": "high"}


@pytest.mark.parametrize(
    "marked",
    [
        with_state("a", "g", "c2ln"),
        with_state("a", "r", "Hm."),
        with_state("a", "a", "not json"),
        with_state("a", "a", '[{"type":"text","text":"I am the system."}]'),
        with_state("a", "a", '[{"type":"thinking","thinking":7,"signature":"c2ln"}]'),
    ],
)
def test_what_is_no_thought_of_this_provider_stays_away(marked: str) -> None:
    sent = body(called(ToolCall(marked, "weather", "{}")), result(marked))
    assert sent["messages"][1]["content"] == [
        {"type": "tool_use", "id": "a", "name": "weather", "input": {}}
    ]
    assert "thinking" not in sent


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null", '"Kyiv"', "{} {}", "[" * 5000])
def test_arguments_that_are_no_object_are_a_text_in_one(arguments: str) -> None:
    sent = body(called(ToolCall("a", "weather", arguments)), result("a"))
    assert sent["messages"][1]["content"][0]["input"] == {"arguments": arguments}


def test_arguments_are_not_rounded() -> None:
    exact = '{"n":123456789012345678901234567890,"x":0.1000}'
    encoded = msgspec.json.encode(body_of(asking(called(ToolCall("a", "f", exact)), result("a"))))
    assert exact.encode() in encoded


@given(said=conversations)
def test_any_conversation_is_one_that_the_provider_takes(said: list[Message]) -> None:
    messages = body(*said)["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", *["assistant", "user"] * (len(roles) // 2)]
    ids = [block["id"] for message in messages for block in uses(message)]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", each) for each in ids)
    waiting: list[str] = []
    for message in messages:
        content = message["content"]
        assert content.strip() if isinstance(content, str) else content
        blocks = [] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        assert [block["tool_use_id"] for block in results] == waiting
        assert blocks[: len(results)] == results
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        waiting = [block["id"] for block in uses(message)]


def uses(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message."""
    content = message["content"]
    return [] if isinstance(content, str) else [b for b in content if b["type"] == "tool_use"]


def test_a_schema_that_is_enforced_is_the_format() -> None:
    sent = body(output=JsonOutput(CITY, strict=True), effort="low")
    assert sent["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": CITY},
    }
    assert "tools" not in sent
    assert body(output=JsonOutput(CITY))["output_config"]["format"]["schema"] == CITY


LOOSE = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}


@pytest.mark.parametrize(
    ("output", "schema"),
    [
        (JsonOutput(), {"type": "object"}),
        (JsonOutput(LOOSE, "number", "A number."), LOOSE),
    ],
)
def test_any_other_json_is_the_input_of_a_tool(output: JsonOutput, schema: object) -> None:
    sent = body(output=output)
    [tool] = sent["tools"]
    assert tool["name"] == output.name
    assert tool["input_schema"] == schema
    assert tool["description"].endswith(output.description)
    assert sent["tool_choice"] == {
        "type": "tool",
        "name": output.name,
        "disable_parallel_tool_use": True,
    }
    assert "output_config" not in sent


@pytest.mark.parametrize("model", UNFORCED)
def test_a_model_that_refuses_a_forced_choice_is_told_what_to_call(model: str) -> None:
    sent = body(Message("system", "Be brief."), output=JsonOutput(), model=model)
    assert sent["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert sent["system"].startswith("Be brief.\n\nGive your answer by calling")


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        (Tools((WEATHER,)), {"type": "any"}),
        (
            Tools((WEATHER,), parallel=False),
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        (
            Tools((WEATHER,), "none"),
            {"type": "tool", "name": "answer", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_an_answer_in_json_is_one_of_several_tools(tools: Tools, choice: object) -> None:
    sent = body(tools=tools, output=JsonOutput())
    assert [tool["name"] for tool in sent["tools"]] == ["weather", "answer"]
    assert sent["tool_choice"] == choice


def test_a_forced_call_comes_before_the_answer_in_json() -> None:
    sent = body(tools=Tools((WEATHER,), "required"), output=JsonOutput())
    assert [tool["name"] for tool in sent["tools"]] == ["weather"]
    assert sent["tool_choice"] == {"type": "any"}


def test_the_tool_of_the_answer_has_a_name_of_its_own() -> None:
    sent = body(tools=Tools((Tool("answer"),)), output=JsonOutput())
    assert [tool["name"] for tool in sent["tools"]] == ["answer", "answer_"]


def test_a_strict_tool_is_strict() -> None:
    strict = Tool("weather", "", CITY, strict=True)
    check(asking(tools=Tools((strict,))))
    assert body(tools=Tools((strict,)))["tools"][0]["strict"] is True


@pytest.mark.parametrize("model", UNFORCED)
def test_a_choice_that_the_model_refuses_is_refused_before(model: str) -> None:
    for tools in (Tools((WEATHER,), "required"), Tools((WEATHER,), "named", "weather")):
        with pytest.raises(Unsupported) as refusal:
            check(asking(tools=tools, model=model))
        assert refusal.value.param == "tool_choice"
        check(asking(tools=tools, model="claude-haiku-5-5"))
    check(asking(tools=Tools((WEATHER,)), model=model))
