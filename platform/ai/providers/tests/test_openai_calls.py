"""Tool calls that come back: in the pieces, with the ids and the habits that providers have."""

import json
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.providers.call_ids import read_call_id
from ai.providers.config import Flags, ReasoningField
from ai.providers.errors import UpstreamError
from ai.providers.openai_answers import answer_reader
from ai.providers.types import (
    ChatEvent,
    Finish,
    JsonOutput,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    Tools,
    Usage,
)

from .calls import request

PLAIN = Flags()
ASKED = msgspec.structs.replace(request(), tools=Tools((Tool("get_weather"), Tool("get_time"))))
BERN = '{"city": "Bern"}'


def read(*payloads: Any, flags: Flags = PLAIN, call: Any = ASKED) -> list[ChatEvent]:
    """The events of an answer, whose payloads are JSON, or bytes of it."""
    reader = answer_reader(call, flags)
    events: list[ChatEvent] = []
    for payload in payloads:
        sent = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        reader.read(sent, events)
    return events + reader.unpaired() + reader.closing()


def chunk(finish: str | None = None, **delta: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(arguments: Any, index: int | None = 0, id_: str | None = None, name: Any = None) -> Any:
    """A chunk with a piece of a call; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    given = {"index": index, "id": id_}
    return chunk(
        tool_calls=[
            {key: value for key, value in given.items() if value is not None}
            | {"function": {key: value for key, value in function.items() if value is not None}}
        ]
    )


END = chunk("tool_calls")


def calls_of(events: list[ChatEvent]) -> list[ToolCall]:
    """The calls as a client puts them together, by the contract of deltas."""
    calls: list[ToolCall] = []
    for event in events:
        if not isinstance(event, ToolCallDelta):
            continue
        if event.index == len(calls):
            assert event.id
            assert event.name
            calls.append(ToolCall(event.id, event.name, event.text))
        else:
            assert (event.id, event.name) == ("", "")
            arguments = calls[event.index].arguments + event.text
            calls[event.index] = msgspec.structs.replace(calls[event.index], arguments=arguments)
    return calls


def test_a_call_comes_in_pieces() -> None:
    events = read(
        chunk(role="assistant", content=None),
        piece("", id_="call_1", name="get_weather"),
        piece('{"ci'),
        piece('ty": "Bern"}'),
        END,
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
    )
    assert events == [
        ToolCallDelta(0, "", "call_1", "get_weather"),
        ToolCallDelta(0, '{"ci'),
        ToolCallDelta(0, 'ty": "Bern"}'),
        Usage(9, 3),
        Finish("tool_calls"),
    ]


def test_text_comes_before_calls() -> None:
    events = read(
        chunk(content="Let me"),
        chunk(content=" see."),
        piece(BERN, id_="call_1", name="get_weather"),
        END,
    )
    assert events[:2] == [TextDelta("Let me"), TextDelta(" see.")]
    assert calls_of(events) == [ToolCall("call_1", "get_weather", BERN)]


TWO = [ToolCall("call_1", "get_weather", BERN), ToolCall("call_2", "get_time", "{}")]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                piece("", id_="call_1", name="get_weather"),
                piece(BERN),
                piece("", 1, "call_2", "get_time"),
                piece("{}", 1),
            ],
            id="one after the other",
        ),
        pytest.param(
            [
                piece("", id_="call_1", name="get_weather"),
                piece("", 1, "call_2", "get_time"),
                piece(BERN[:5]),
                piece("{}", 1),
                piece(BERN[5:]),
            ],
            id="in turn",
        ),
        pytest.param(
            [piece(BERN, 3, "call_1", "get_weather"), piece("{}", 7, "call_2", "get_time")],
            id="with indexes of their own",
        ),
        pytest.param(
            [
                piece("", None, "call_1", "get_weather"),
                piece(BERN[:5], None),
                piece(BERN[5:], None),
                piece("{}", None, "call_2", "get_time"),
            ],
            id="without an index",
        ),
        pytest.param(
            [piece(BERN, 0, "call_1", "get_weather"), piece("{}", 0, "call_2", "get_time")],
            id="with one index for all",
        ),
        pytest.param(
            [
                piece(BERN[:5], 0, "call_1", "get_weather"),
                piece(BERN[5:], 0, "call_1", "get_weather"),
                piece("{}", 1, "call_2", "get_time"),
            ],
            id="with ids and names repeated",
        ),
        pytest.param(
            [
                piece("", 0, "call_1", "get_weather"),
                piece(BERN, 0, "", ""),
                piece("{}", 1, "call_2", "get_time"),
            ],
            id="with empty ids and names",
        ),
        pytest.param(
            [
                piece("", 0, "call_1"),
                piece(BERN[:5], 0),
                piece(BERN[5:], 0, None, "get_weather"),
                piece("{}", 1, "call_2", "get_time"),
            ],
            id="with the name after the id",
        ),
        pytest.param(
            [
                piece({"city": "Bern"}, 0, "call_1", "get_weather"),
                piece({}, 1, "call_2", "get_time"),
            ],
            id="with arguments as objects",
        ),
    ],
)
def test_calls_are_the_same_in_every_form(pieces: list[Any]) -> None:
    calls = calls_of(read(*pieces, END))
    assert [(call.id, call.name, json.loads(call.arguments)) for call in calls] == [
        (call.id, call.name, json.loads(call.arguments)) for call in TWO
    ]


names = st.sampled_from(["get_weather", "get_time"])
cuts = st.lists(st.text(max_size=4), max_size=5)


@given(st.lists(st.tuples(names, cuts), max_size=4), st.booleans(), st.booleans(), st.randoms())
def test_arguments_are_whole_however_they_are_cut_and_mixed(
    asked: list[tuple[str, list[str]]], indexed: bool, repeated: bool, chance: Random
) -> None:
    order = [index for index, (_, texts) in enumerate(asked) for _ in ("", *texts)]
    if indexed:
        chance.shuffle(order)
    left = [iter(("", *texts)) for _, texts in asked]
    begun: set[int] = set()
    pieces: list[Any] = []
    for index in order:
        is_named = repeated or index not in begun
        begun.add(index)
        named = (f"call_{index}", asked[index][0]) if is_named else (None, None)
        pieces.append(piece(next(left[index]), index if indexed else None, *named))
    assert [(call.name, call.arguments) for call in calls_of(read(*pieces, END))] == [
        (asked[index][0], "".join(asked[index][1]).replace("\0", "") or "{}")
        for index in dict.fromkeys(order)
    ]


def test_whole_calls_come_in_one_chunk() -> None:
    given = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
        for call in TWO
    ]
    assert calls_of(read(chunk("tool_calls", content="", tool_calls=given))) == TWO
    message = {"role": "assistant", "content": None, "tool_calls": given}
    plain = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert calls_of(read(plain)) == TWO


def test_a_call_without_arguments_has_an_empty_object() -> None:
    events = read(piece("", 0, "call_1", "get_time"), piece(None, 1, "call_2", "get_time"), END)
    assert [call.arguments for call in calls_of(events)] == ["{}", "{}"]
    assert events[-1] == Finish("tool_calls")


def test_a_call_without_an_id_gets_one() -> None:
    [call, other] = calls_of(
        read(piece("{}", 0, None, "get_time"), piece("{}", 1, None, "get_time"), END)
    )
    assert call.id != other.id


def test_no_calls_are_no_calls() -> None:
    events = read(chunk(content="Hi", tool_calls=None), chunk("stop", tool_calls=[]))
    assert events == [TextDelta("Hi"), Finish("stop")]


@pytest.mark.parametrize(
    ("told", "ours"),
    [
        ("tool_calls", "tool_calls"),
        ("stop", "tool_calls"),
        ("function_call", "tool_calls"),
        ("length", "length"),
        ("content_filter", "content_filter"),
    ],
)
def test_an_answer_with_calls_ends_by_them_unless_it_was_cut(told: str, ours: str) -> None:
    events = read(piece(BERN, 0, "call_1", "get_weather"), chunk(told))
    assert events[-1] == Finish(ours)  # type: ignore[arg-type]


def test_calls_before_a_cut_stay_and_the_last_one_is_not_made_whole() -> None:
    events = read(
        piece("", 0, "call_1", "get_time"), piece("", 1, "call_2", "get_time"), chunk("length")
    )
    assert [call.arguments for call in calls_of(events)] == ["{}", ""]


def test_arguments_that_are_cut_inside_a_character_are_whole_again() -> None:
    def raw(arguments: bytes, index: int) -> bytes:
        return (
            b'{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"arguments":"%s"}}]}}]}'
            % (index, arguments)
        )

    events = read(
        piece("", 0, "call_1", "get_weather"),
        piece("", 1, "call_2", "get_weather"),
        raw(rb"a\ud83c", 0),
        raw(rb"\udf89", 0),
        raw(rb"b\ud83c", 0),
        raw(rb"\udf89c", 1),
        END,
    )
    assert [call.arguments for call in calls_of(events)] == ["a🎉b\ufffd", "\ufffdc"]


def test_what_is_no_character_is_made_harmless_in_names_ids_and_reasoning() -> None:
    events = read(
        b'{"choices":[{"delta":{"reasoning_content":"a\\ud83c"}}]}',
        b'{"choices":[{"delta":{"reasoning_content":"\\udf89\\u0000b\\ud83c"}}]}',
        piece("{}", 0, "call\ud83c", "get\0_time"),
        END,
        flags=Flags(reasoning_back="reasoning_content"),
    )
    [call] = calls_of(events)
    assert read_call_id(call.id, "r") == ("call\ufffd", "a🎉b\ufffd")
    assert call.name == "get_time"


def test_calls_are_left_out_where_no_tools_were_given() -> None:
    assert read(piece(BERN, 0, "call_1", "get_weather"), END, call=request()) == [Finish("stop")]
    odd = chunk(content="Hi", tool_calls={"id": 7}, reasoning_details="None.")
    assert read(odd, chunk("stop"), call=request()) == [TextDelta("Hi"), Finish("stop")]


def test_calls_that_are_none_are_no_answer() -> None:
    with pytest.raises(UpstreamError):
        read(chunk(tool_calls={"id": 7}))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_the_first_call_carries_the_reasoning_before_it(field: ReasoningField) -> None:
    events = read(
        chunk(**{str(field): "The user asks"}),
        chunk(**{str(field): " for Bern."}),
        piece(BERN, 0, "call_1", "get_weather"),
        piece("{}", 1, "call_2", "get_time"),
        END,
        flags=Flags(reasoning_back=field),
    )
    assert events[:2] == [ReasoningDelta("The user asks"), ReasoningDelta(" for Bern.")]
    first, second = calls_of(events)
    assert read_call_id(first.id, "r") == ("call_1", "The user asks for Bern.")
    assert second.id == "call_2"


def test_reasoning_stays_out_of_ids_where_nobody_wants_it_back() -> None:
    events = read(chunk(reasoning="Hm."), piece(BERN, 0, "call_1", "get_weather"), END)
    assert calls_of(events)[0].id == "call_1"


def test_the_pieces_of_openrouter_s_details_are_put_together() -> None:
    def thought(index: int, type_: str, **fields: str) -> Any:
        return chunk(reasoning_details=[{"type": f"reasoning.{type_}", "index": index, **fields}])

    events = read(
        thought(0, "text", text="The user", format="anthropic-claude-v1"),
        thought(0, "text", text=" asks."),
        thought(0, "text", signature="c2ln"),
        thought(1, "encrypted", data="YWJj"),
        piece(BERN, 0, "call_1", "get_weather"),
        END,
        flags=Flags(reasoning_back="reasoning_details"),
    )
    assert json.loads(read_call_id(calls_of(events)[0].id, "d").state) == [
        {
            "type": "reasoning.text",
            "index": 0,
            "text": "The user asks.",
            "format": "anthropic-claude-v1",
            "signature": "c2ln",
        },
        {"type": "reasoning.encrypted", "index": 1, "data": "YWJj"},
    ]


def test_a_refusal_to_answer_in_a_form_is_told_as_one() -> None:
    asked = msgspec.structs.replace(request(), output=JsonOutput())
    events = read(chunk(refusal="I cannot "), chunk(refusal="help."), chunk("stop"), call=asked)
    assert events == [
        RefusalDelta("I cannot "),
        RefusalDelta("help."),
        Finish("content_filter"),
    ]


def test_where_one_call_was_asked_for_the_first_is_told_alone() -> None:
    tools = Tools((Tool("get_weather"), Tool("get_time")), parallel=False)
    one = msgspec.structs.replace(ASKED, tools=tools)
    answer = (
        piece("", 0, "call_1", "get_weather"),
        piece("", 1, "call_2", "get_time"),
        piece(BERN, 0),
        END,
    )

    assert calls_of(read(*answer, call=one)) == [ToolCall("call_1", "get_weather", BERN)]
    assert len(calls_of(read(*answer))) == 2
