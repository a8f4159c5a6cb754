"""Tools and answers in JSON as they come back from Anthropic."""

import json
from typing import Any

import pytest

from ai.providers.call_ids import read_call_id
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    ChatWire,
    Finish,
    JsonOutput,
    Message,
    RefusalDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Tools,
    Usage,
)
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_of, request, text_of
from .conftest import WireOf
from .test_anthropic_answers import STOP, end, event, start, text
from .tool_calls import CITY, TIME, WEATHER, asking, called, calls_of, result


@pytest.fixture
def wire(wire_of: WireOf) -> ChatWire:
    return wire_of("anthropic")


WITH_TOOLS = asking(tools=Tools((WEATHER, TIME)))


def begin(index: int, kind: str, **fields: Any) -> bytes:
    return event("content_block_start", index=index, content_block={"type": kind, **fields})


def begin_call(index: int, call_id: str, name: str) -> bytes:
    return begin(index, "tool_use", id=call_id, name=name, input={})


def delta(index: int, kind: str, **fields: str) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def piece(index: int, partial_json: str) -> bytes:
    return delta(index, "input_json_delta", partial_json=partial_json)


def over(index: int) -> bytes:
    return event("content_block_stop", index=index)


async def answer(
    upstream: Upstream, wire: ChatWire, call: ChatRequest, *pieces: bytes
) -> list[ChatEvent]:
    upstream.answer = Answer([*pieces])
    return await events_of(wire, call)


# Text and two calls, as the guide "Streaming messages" shows them.
INTERLEAVED = [
    start(input_tokens=472, output_tokens=2),
    begin(0, "text", text=""),
    event("ping"),
    delta(0, "text_delta", text="Okay, let's"),
    delta(0, "text_delta", text=" check."),
    over(0),
    begin_call(1, "toolu_01T1x", "weather"),
    piece(1, ""),
    piece(1, '{"city":'),
    piece(1, ' "San'),
    piece(1, ' Francisco"}'),
    over(1),
    begin(2, "text", text=""),
    delta(2, "text_delta", text=" And the time:"),
    over(2),
    begin_call(3, "toolu_02T2y", "time"),
    piece(3, ""),
    over(3),
    end("tool_use", output_tokens=89),
    STOP,
]


async def test_calls_among_text(upstream: Upstream, wire: ChatWire) -> None:
    assert await answer(upstream, wire, WITH_TOOLS, *INTERLEAVED) == [
        TextDelta("Okay, let's"),
        TextDelta(" check."),
        ToolCallDelta(0, "", "toolu_01T1x", "weather"),
        ToolCallDelta(0, '{"city":'),
        ToolCallDelta(0, ' "San'),
        ToolCallDelta(0, ' Francisco"}'),
        TextDelta(" And the time:"),
        ToolCallDelta(1, "", "toolu_02T2y", "time"),
        ToolCallDelta(1, "{}"),
        Usage(472, 89),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize("call", [request(), asking(tools=Tools((WEATHER, TIME), "none"))])
async def test_calls_that_nobody_may_make_are_skipped(
    upstream: Upstream, wire: ChatWire, call: ChatRequest
) -> None:
    events = await answer(upstream, wire, call, *INTERLEAVED)
    assert not calls_of(events)
    assert events[-1] == Finish("stop")


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("tool_use", "tool_calls"),
        ("end_turn", "tool_calls"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
    ],
)
async def test_the_finish_after_a_call(
    upstream: Upstream, wire: ChatWire, reason: str, ours: str
) -> None:
    pieces = [begin_call(0, "toolu_1", "weather"), piece(0, '{"city": "Ky'), end(reason), STOP]
    events = await answer(upstream, wire, WITH_TOOLS, *pieces)
    assert calls_of(events) == (ToolCall("toolu_1", "weather", '{"city": "Ky'),)
    assert events[-1] == Finish(ours)  # type: ignore[arg-type]


async def test_a_call_that_is_cut_before_its_arguments_has_none(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [begin_call(0, "toolu_1", "weather"), over(0), end("max_tokens"), STOP]
    events = await answer(upstream, wire, WITH_TOOLS, *pieces)
    assert calls_of(events) == (ToolCall("toolu_1", "weather", ""),)
    assert events[-1] == Finish("length")


@pytest.mark.parametrize("size", [1, 2, 7])
async def test_arguments_are_whole_however_the_network_cuts_them(
    upstream: Upstream, wire: ChatWire, size: int
) -> None:
    """Inside a character of UTF-8, an escape of the event, or one of the arguments."""
    arguments = json.dumps({"city": "Kýïv 😀"}, ensure_ascii=False) + json.dumps("😀")
    sent = b"".join(
        (
            begin_call(0, "toolu_1", "weather"),
            *(piece(0, arguments[at : at + 5]) for at in range(0, len(arguments), 5)),
            *(raw_piece(part) for part in (b"\xf0\x9f\x98\x80", rb"\ud83d", rb"\ude00")),
            over(0),
            end("tool_use"),
            STOP,
        )
    )
    upstream.answer = Answer([sent[at : at + size] for at in range(0, len(sent), size)])
    [call] = calls_of(await events_of(wire, WITH_TOOLS))
    assert call.arguments == arguments + "😀😀"


def raw_piece(partial_json: bytes) -> bytes:
    """A piece of arguments whose characters are written as given."""
    delta = b'{"type":"input_json_delta","partial_json":"' + partial_json + b'"}'
    return b'data: {"type":"content_block_delta","index":0,"delta":' + delta + b"}\n\n"


THOUGHTS = [
    {"type": "thinking", "thinking": "Kyiv, then. 😀", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA"},
    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"},
]
THINKING = [
    begin(0, "thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="Kyiv, "),
    delta(0, "thinking_delta", thinking="then. \ud83d"),
    delta(0, "thinking_delta", thinking="\ude00"),
    delta(0, "signature_delta", signature="EqQBCgIYAhIM1gbc"),
    delta(0, "signature_delta", signature="Da9GJwZA"),
    over(0),
    begin(1, "redacted_thinking", data="EmwKAhgBEgy3va3pzix"),
    over(1),
]


async def test_what_was_thought_before_a_call_goes_back_as_it_came(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [
        *THINKING,
        begin(2, "text", text=""),
        delta(2, "text_delta", text="Let me see."),
        over(2),
        begin_call(3, "toolu_1", "weather"),
        piece(3, '{"city":"Kyiv"}'),
        over(3),
        begin(4, "thinking", thinking="", signature=""),
        delta(4, "signature_delta", signature="c2Vjb25k"),
        over(4),
        begin_call(5, "toolu_2", "time"),
        over(5),
        end("tool_use"),
        STOP,
    ]
    events = await answer(upstream, wire, WITH_TOOLS, *pieces)
    calls = calls_of(events)
    said = called(*calls, text=text_of(events))
    history = [Message("user", "Hi"), said, *(result(call.id) for call in calls)]
    await events_of(wire, asking(*history, tools=WITH_TOOLS.tools))
    messages = upstream.calls[-1].json["messages"]
    assert messages[1]["content"] == [
        *THOUGHTS,
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Kyiv"}},
        {"type": "thinking", "thinking": "", "signature": "c2Vjb25k"},
        {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {}},
    ]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["toolu_1", "toolu_2"]


async def test_what_was_thought_without_a_signature_is_not_kept(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [
        begin(0, "thinking", thinking="Hm."),
        over(0),
        begin_call(1, "toolu_1", "time"),
        over(1),
        end("tool_use"),
        STOP,
    ]
    events = await answer(upstream, wire, WITH_TOOLS, *pieces)
    assert calls_of(events) == (ToolCall("toolu_1", "time", "{}"),)


async def test_a_whole_message_has_calls(upstream: Upstream, wire: ChatWire) -> None:
    message = {
        "type": "message",
        "content": [
            *THOUGHTS,
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Kyiv"}},
            {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {}},
        ],
        "stop_reason": "tool_use",
    }
    body = json.dumps(message, separators=(",", ":")).encode()
    upstream.answer = Answer([body], content_type=JSON)
    events = await wire.complete(WITH_TOOLS, AMPLE)
    first, second = calls_of(events)
    own, state = read_call_id(first.id, "a")
    assert (own, json.loads(state)) == ("toolu_1", THOUGHTS)
    assert (first.arguments, second.arguments) == ('{"city":"Kyiv"}', "{}")
    assert events[-1] == Finish("tool_calls")


BY_TOOL = asking(output=JsonOutput())


async def test_the_input_of_the_answer_s_tool_is_the_answer(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [
        begin(0, "text", text="Here it is:"),
        over(0),
        begin_call(1, "toolu_1", "answer"),
        piece(1, '{"city":'),
        piece(1, '"Kyiv"}'),
        over(1),
        begin(2, "text", text="Done."),
        over(2),
        begin_call(3, "toolu_2", "answer"),
        piece(3, "{}"),
        over(3),
        end("tool_use"),
        STOP,
    ]
    assert await answer(upstream, wire, BY_TOOL, *pieces) == [
        TextDelta('{"city":'),
        TextDelta('"Kyiv"}'),
        Finish("stop"),
    ]


async def test_an_answer_without_fields_is_an_empty_object(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [begin_call(0, "toolu_1", "answer"), over(0), end("tool_use"), STOP]
    events = await answer(upstream, wire, BY_TOOL, *pieces)
    assert events == [TextDelta("{}"), Finish("stop")]


@pytest.mark.parametrize(
    ("said", "reason", "ours"),
    [
        ('{"city":"Kyiv"}', "end_turn", [TextDelta('{"city":"Kyiv"}'), Finish("stop")]),
        ("I cannot say.", "end_turn", [RefusalDelta("I cannot say."), Finish("content_filter")]),
        ("I will not", "refusal", [RefusalDelta("I will not"), Finish("content_filter")]),
        ('{"city', "max_tokens", [TextDelta('{"city'), Finish("length")]),
    ],
)
async def test_words_instead_of_the_answer_s_tool(
    upstream: Upstream, wire: ChatWire, said: str, reason: str, ours: list[ChatEvent]
) -> None:
    pieces = [text(said[:4]), text(said[4:]), end(reason), STOP]
    assert await answer(upstream, wire, BY_TOOL, *pieces) == ours


async def test_a_call_instead_of_the_answer_is_a_call(upstream: Upstream, wire: ChatWire) -> None:
    call = asking(tools=Tools((WEATHER, TIME)), output=JsonOutput())
    events = await answer(upstream, wire, call, *INTERLEAVED)
    assert [each.name for each in calls_of(events)] == ["weather", "time"]
    assert text_of(events) == "Okay, let's check. And the time:"
    assert events[-1] == Finish("tool_calls")


async def test_a_refusal_of_the_format_says_why(upstream: Upstream, wire: ChatWire) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This is not allowed."}
    refused = event(
        "message_delta", delta={"stop_reason": "refusal", "stop_details": details}, usage={}
    )
    call = asking(output=JsonOutput(CITY, strict=True))
    assert await answer(upstream, wire, call, text('{"ci'), refused, STOP) == [
        TextDelta('{"ci'),
        RefusalDelta("This is not allowed."),
        Finish("content_filter"),
    ]
    assert await answer(upstream, wire, request(), refused, STOP) == [Finish("content_filter")]


async def test_a_formatted_answer_is_text(upstream: Upstream, wire: ChatWire) -> None:
    call = asking(output=JsonOutput(CITY, strict=True))
    assert await answer(upstream, wire, call, text('{"city":'), text('"K"}'), end(), STOP) == [
        TextDelta('{"city":'),
        TextDelta('"K"}'),
        Finish("stop"),
    ]
