"""What goes out to Google."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from ai.providers.call_ids import with_state
from ai.providers.errors import Unsupported
from ai.providers.gemini_request import body_of, check
from ai.providers.types import JsonOutput, Message, Tool, ToolCall, Tools
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_of, request
from .conftest import WireOf
from .tool_calls import CITY, PICTURE, TIME, WEATHER, asking, called, conversations, result

WHOLE = b'{"candidates":[{"finishReason":"STOP"}]}'
STREAM = Answer([b"data: " + WHOLE + b"\n\n"])
PLAIN = Answer([WHOLE], content_type=JSON)


async def test_a_streamed_call(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = STREAM
    said = (
        Message("system", "Be brief."),
        Message("user", "Hi é"),
        Message("assistant", "Hello"),
        Message("user", "Go on"),
    )
    await events_of(wire_of("google"), request(*said, bound=7))
    [call] = upstream.calls
    assert call.path.endswith("/models/some-model:streamGenerateContent?alt=sse")
    assert call.headers["x-goog-api-key"] == "sk-secret"
    assert "authorization" not in call.headers
    assert call.json == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi é"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
            {"role": "user", "parts": [{"text": "Go on"}]},
        ],
        "generationConfig": {"maxOutputTokens": 7},
    }


async def test_a_plain_call_differs_in_its_path_alone(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = PLAIN
    wire = wire_of("google")
    await events_of(wire)
    await wire.complete(request(), AMPLE)
    streamed, plain = upstream.calls
    assert plain.path.endswith("/models/some-model:generateContent")
    assert plain.json == streamed.json


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
async def test_effort_is_a_level_and_shows_what_was_thought(
    upstream: Upstream, wire_of: WireOf, effort: str
) -> None:
    upstream.answer = STREAM
    await events_of(wire_of("google"), request(effort=effort))
    thinking = upstream.calls[0].json["generationConfig"]["thinkingConfig"]
    assert thinking == {"thinkingLevel": effort.upper(), "includeThoughts": True}


def body(*messages: Message, **fields: Any) -> dict[str, Any]:
    """The body of a request as it is sent."""
    sent: dict[str, Any] = json.loads(msgspec.json.encode(body_of(asking(*messages, **fields))))
    return sent


async def test_tools_and_their_results_go_out(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = STREAM
    signed = with_state("call_1", "g", "c2ln")
    call = asking(
        Message("user", "How is Kyiv?"),
        called(
            ToolCall(signed, "weather", '{"city": "Kyiv"}'),
            ToolCall("call_2", "time", ""),
            text="Let me see.",
        ),
        result("call_2", "", PICTURE),
        result(signed),
        Message("user", "Well?"),
        tools=Tools((WEATHER, TIME)),
    )
    await events_of(wire_of("google"), call)
    [sent] = upstream.calls
    picture = {"inlineData": {"mimeType": "image/png", "data": "YSBwaWN0dXJl"}}
    kyiv = {"id": "call_1", "name": "weather", "args": {"city": "Kyiv"}}
    noon = {"id": "call_2", "name": "time", "args": {"arguments": ""}}
    sunny = {"id": "call_1", "name": "weather", "response": {"output": "Sunny."}}
    clock = {"id": "call_2", "name": "time", "response": {"output": ""}, "parts": [picture]}
    assert sent.json["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "weather",
                    "description": "The weather in a city.",
                    "parametersJsonSchema": CITY,
                },
                {"name": "time"},
            ]
        }
    ]
    assert sent.json["contents"] == [
        {"role": "user", "parts": [{"text": "How is Kyiv?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Let me see."},
                {"functionCall": kyiv, "thoughtSignature": "c2ln"},
                {"functionCall": noon},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": sunny},
                {"functionResponse": clock},
                {"text": "Well?"},
            ],
        },
    ]
    assert "toolConfig" not in sent.json


STRICT = replace(WEATHER, strict=True)


@pytest.mark.parametrize(
    ("tools", "config"),
    [
        (Tools((STRICT, TIME)), {"mode": "VALIDATED"}),
        (Tools((WEATHER,), "none"), {"mode": "NONE"}),
        (Tools((STRICT,), "required"), {"mode": "ANY"}),
        (
            Tools((WEATHER, TIME), "named", "time"),
            {"mode": "ANY", "allowedFunctionNames": ["time"]},
        ),
    ],
)
def test_the_choice_among_tools(tools: Tools, config: object) -> None:
    assert body(tools=tools)["toolConfig"] == {"functionCallingConfig": config}


def test_one_call_at_a_time_is_an_instruction() -> None:
    sent = body(Message("system", "Be brief."), tools=Tools((WEATHER,), parallel=False))
    [part] = sent["systemInstruction"]["parts"]
    assert part["text"] == "Be brief.\n\nCall at most one function at a time."


@pytest.mark.parametrize("call_id", ["a", with_state("a", "a", "[]"), with_state("a", "r", "Hm.")])
def test_a_call_that_this_provider_has_not_signed_says_so(call_id: str) -> None:
    """Of several calls at once it signs the first one alone."""
    said = called(ToolCall(call_id, "weather", "{}"), ToolCall("b", "time", "{}"))
    first, second = body(said, result(call_id), result("b"))["contents"][1]["parts"]
    assert first["functionCall"]["id"] == "a"
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in second


def test_a_picture_goes_out_between_its_words() -> None:
    [content] = body(Message("user", "Look: What is it?", ("Look:", PICTURE, "What is it?")))[
        "contents"
    ]
    assert [list(part) for part in content["parts"]] == [["text"], ["inlineData"], ["text"]]


def test_a_picture_that_the_provider_cannot_see_is_refused() -> None:
    seen = Message("user", "", (PICTURE,))
    check(asking(seen))
    animated = replace(PICTURE, media_type="image/gif")
    with pytest.raises(Unsupported) as refusal:
        check(asking(seen, Message("user", "", (animated,))))
    assert refusal.value.param == "messages[1]"


@given(said=conversations)
def test_any_conversation_is_one_that_the_provider_takes(said: list[Message]) -> None:
    contents = body(*said)["contents"]
    roles = [content["role"] for content in contents]
    assert roles == ["user", *["model", "user"] * (len(roles) // 2)]
    waiting: list[tuple[str, str]] = []
    for content in contents:
        parts = content["parts"]
        assert parts
        assert all(part["text"].strip() for part in parts if "text" in part)
        results = [part for part in parts if "functionResponse" in part]
        assert named(results, "functionResponse") == waiting
        assert parts[: len(results)] == results
        calls = [part for part in parts if "functionCall" in part]
        assert all("thoughtSignature" in part for part in calls[:1])
        waiting = named(calls, "functionCall")


def named(parts: list[dict[str, Any]], kind: str) -> list[tuple[str, str]]:
    """The ids and names in parts of that kind."""
    return [(part[kind]["id"], part[kind]["name"]) for part in parts]


def test_json_is_asked_for_with_its_schema() -> None:
    assert body(output=JsonOutput())["generationConfig"] == {
        "maxOutputTokens": 100,
        "responseMimeType": "application/json",
    }
    generation = body(output=JsonOutput(CITY, strict=True), effort="low")["generationConfig"]
    assert generation["responseJsonSchema"] == CITY
    assert generation["thinkingConfig"]["thinkingLevel"] == "LOW"


def nested(**schema: Any) -> dict[str, Any]:
    """An object with one property of that schema."""
    return {"type": "object", "properties": {"x": schema}, "additionalProperties": False}


@pytest.mark.parametrize(("const", "type_"), [("a", "string"), (7, "number"), (0.5, "number")])
def test_a_single_value_is_an_enum(const: object, type_: str) -> None:
    output = JsonOutput(nested(anyOf=[{"const": const}]), strict=True)
    tools = Tools((Tool("f", "", nested(const=const), strict=True),))
    check(asking(output=output, tools=tools))
    sent = body(output=output, tools=tools)
    single = {"type": type_, "enum": [const]}
    assert sent["generationConfig"]["responseJsonSchema"] == nested(anyOf=[single])
    [declaration] = sent["tools"][0]["functionDeclarations"]
    assert declaration["parametersJsonSchema"] == nested(**single)


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    schema = {"type": "object", "properties": {"const": {"type": "string"}, "pattern": {}}}
    output = JsonOutput(schema, strict=True)
    check(asking(output=output))
    assert body(output=output)["generationConfig"]["responseJsonSchema"] == schema


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        (nested(type="string", pattern="^a"), "`pattern` (at properties.x)"),
        (nested(type="string", minLength=1), "`minLength`"),
        (nested(type="number", multipleOf=2), "`multipleOf`"),
        (nested(const=True), "`const`"),
        (nested(anyOf=[{"not": {}}]), "`not` (at properties.x.anyOf[0])"),
        (nested(**{"$ref": "#/$defs/X", "description": "An X."}), "beside `$ref`"),
    ],
)
def test_what_is_not_enforced_is_refused_where_it_has_to_be(
    schema: dict[str, Any], named: str
) -> None:
    with pytest.raises(Unsupported) as refusal:
        check(asking(output=JsonOutput(schema, strict=True)))
    assert named in str(refusal.value)
    assert refusal.value.param == "response_format.json_schema.schema"
    with pytest.raises(Unsupported) as refusal:
        check(asking(tools=Tools((TIME, Tool("weather", "", schema, strict=True)))))
    assert refusal.value.param == "tools[1].function.parameters"
    check(asking(output=JsonOutput(schema), tools=Tools((Tool("weather", "", schema),))))


@pytest.mark.parametrize("name", ["2d", "-f"])
def test_a_name_that_the_provider_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(Unsupported) as refusal:
        check(asking(tools=Tools((WEATHER, Tool(name)))))
    assert refusal.value.param == "tools[1].function.name"
