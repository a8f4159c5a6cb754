"""Tools and answers in JSON as they come back from Google."""

import json
from typing import Any

import pytest

from ai.providers.call_ids import read_call_id
from ai.providers.errors import UpstreamError
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    ChatWire,
    Finish,
    JsonOutput,
    Message,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    Tools,
    Usage,
)
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_and_failure, events_of, request, text_of
from .conftest import WireOf
from .test_gemini_answers import event, parts, text
from .tool_calls import CITY, TIME, WEATHER, asking, called, calls_of, result


@pytest.fixture
def wire(wire_of: WireOf) -> ChatWire:
    return wire_of("google")


WITH_TOOLS = asking(tools=Tools((WEATHER, TIME)))


def call(name: str, args: object = None, signature: str = "", **fields: Any) -> dict[str, Any]:
    """The part of a call."""
    called = {"name": name, **({} if args is None else {"args": args}), **fields}
    return {"functionCall": called, **({"thoughtSignature": signature} if signature else {})}


async def answer(
    upstream: Upstream, wire: ChatWire, request: ChatRequest, *pieces: bytes
) -> list[ChatEvent]:
    upstream.answer = Answer([*pieces])
    return await events_of(wire, request)


async def test_calls_come_whole_with_ids_of_their_own(upstream: Upstream, wire: ChatWire) -> None:
    pieces = [
        parts({"text": "The user asks.", "thought": True}, promptTokenCount=9),
        text("Let me see."),
        parts(call("weather", {"city": "Kyiv 😀"}, "c2lnbmVk"), call("time")),
        parts({"text": ""}, call("time", {}, id="own"), reason="STOP", candidatesTokenCount=20),
    ]
    events = await answer(upstream, wire, WITH_TOOLS, *pieces)
    assert events[:2] == [ReasoningDelta("The user asks."), TextDelta("Let me see.")]
    first, second, third = calls_of(events)
    assert json.loads(first.arguments) == {"city": "Kyiv 😀"}
    assert read_call_id(first.id, "g").state == "c2lnbmVk"
    assert first.id != second.id
    assert (second.name, second.arguments) == ("time", "{}")
    assert third == ToolCall("own", "time", "{}")
    assert events[-2:] == [Usage(9, 20), Finish("tool_calls")]
    again = calls_of(await answer(upstream, wire, WITH_TOOLS, *pieces))
    assert not {each.id for each in again[:2]} & {first.id, second.id}


@pytest.mark.parametrize("tools", [None, Tools((WEATHER,), "none")])
async def test_calls_that_nobody_may_make_are_skipped(
    upstream: Upstream, wire: ChatWire, tools: Tools | None
) -> None:
    pieces = [text("Hi"), parts(call("weather", {}), reason="STOP")]
    events = await answer(upstream, wire, asking(tools=tools), *pieces)
    assert events == [TextDelta("Hi"), Finish("stop")]


async def test_the_first_of_several_calls_stands_for_one_at_a_time(
    upstream: Upstream, wire: ChatWire
) -> None:
    one = asking(tools=Tools((WEATHER, TIME), parallel=False))
    pieces = [parts(call("weather", {}), call("time")), parts(call("time"), reason="STOP")]
    events = await answer(upstream, wire, one, *pieces)
    assert [each.name for each in calls_of(events)] == ["weather"]
    assert events[-1] == Finish("tool_calls")


async def test_what_was_signed_goes_back_on_the_same_call(
    upstream: Upstream, wire: ChatWire
) -> None:
    sent = [
        {"text": "Let me see."},
        call("weather", {"city": "Kyiv"}, "c2lnbmVk", id="a"),
        call("time", {}, id="b"),
    ]
    events = await answer(upstream, wire, WITH_TOOLS, parts(*sent, reason="STOP"))
    calls = calls_of(events)
    history = [
        Message("user", "Hi"),
        called(*calls, text=text_of(events)),
        *(result(each.id) for each in calls),
    ]
    await events_of(wire, asking(*history, tools=WITH_TOOLS.tools))
    assert upstream.calls[-1].json["contents"][1] == {"role": "model", "parts": sent}


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("STOP", "tool_calls"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "tool_calls"),
        ("TOO_MANY_TOOL_CALLS", "tool_calls"),
    ],
)
async def test_the_finish_after_a_call(
    upstream: Upstream, wire: ChatWire, reason: str, ours: str
) -> None:
    events = await answer(upstream, wire, WITH_TOOLS, parts(call("time")), text("", reason))
    assert len(calls_of(events)) == 1
    assert events[-1] == Finish(ours)  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
async def test_a_call_that_failed_is_a_failure_that_may_be_tried_again(
    upstream: Upstream, wire: ChatWire, reason: str
) -> None:
    upstream.answer = Answer([text("", reason)])
    events, failure = await events_and_failure(wire, call=WITH_TOOLS)
    assert events == []
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


async def test_a_plain_answer_has_calls(upstream: Upstream, wire: ChatWire) -> None:
    content = {"parts": [call("weather", {"city": "Kyiv"}, "c2ln")]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    upstream.answer = Answer([json.dumps(answer).encode()], content_type=JSON)
    events = await wire.complete(WITH_TOOLS, AMPLE)
    [made] = calls_of(events)
    assert json.loads(made.arguments) == {"city": "Kyiv"}
    assert events[-1] == Finish("tool_calls")


async def test_thoughts_alone_are_no_count_of_calls(upstream: Upstream, wire: ChatWire) -> None:
    counted = {"promptTokenCount": 9, "thoughtsTokenCount": 40}
    events = await answer(upstream, wire, WITH_TOOLS, parts(call("time"), reason="STOP", **counted))
    assert Usage(9, 0, reasoning_tokens=40) in events


async def test_a_form_that_the_provider_declines_says_why(
    upstream: Upstream, wire: ChatWire
) -> None:
    refused = event(candidates=[{"finishReason": "SAFETY", "finishMessage": "It is not safe."}])
    formed = asking(output=JsonOutput(CITY, strict=True))
    assert await answer(upstream, wire, formed, refused) == [
        RefusalDelta("It is not safe."),
        Finish("content_filter"),
    ]
    assert await answer(upstream, wire, request(), refused) == [Finish("content_filter")]
