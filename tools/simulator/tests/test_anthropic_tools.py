"""Anthropic's wire: blocks of calls and results, signed thoughts, and what is refused of them."""

import json
from typing import Any

import httpx
import pytest

from simulator.tests.conftest import Caller

MODEL = "claude-haiku-5-5"
ASKED = {"role": "user", "content": "The weather in Paris?"}


def tool(name: str, **fields: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    return {"name": name, "input_schema": schema} | fields


WEATHER = tool("get_weather")
USED = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}
CALLED = {"role": "assistant", "content": [USED]}
GIVEN = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"}
ANSWERED = {"role": "user", "content": [GIVEN]}
SHOWN = {"thinking": {"type": "adaptive", "display": "summarized"}}


def post(caller: Caller, *messages: dict[str, Any], **fields: object) -> httpx.Response:
    body = {"model": MODEL, "max_tokens": 500, "messages": messages, "tools": [WEATHER]} | fields
    headers = {"x-api-key": "alice", "anthropic-version": "2023-06-01"}
    return caller.http.post(
        f"{caller.simulator.url}/anthropic/v1/messages", json=body, headers=headers
    )


def content(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    blocks: list[dict[str, Any]] = answer.json()["content"]
    return blocks


def streamed(answer: httpx.Response) -> list[dict[str, Any]]:
    lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_no_sentence_comes_before_a_call_where_the_answer_has_a_form(caller: Caller) -> None:
    form = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
    [used] = content(post(caller, ASKED, output_config={"format": form}))
    assert used["type"] == "tool_use"


def test_a_call_comes_after_signed_thoughts_and_a_sentence(caller: Caller) -> None:
    answer = post(caller, ASKED, **SHOWN)
    thinking, text, used = content(answer)
    assert (thinking["type"], text["type"], used["type"]) == ("thinking", "text", "tool_use")
    assert text["text"] == "I will call get_weather."
    assert (used["name"], used["input"]) == ("get_weather", {"city": "Paris"})
    assert answer.json()["stop_reason"] == "tool_use"
    told = post(
        caller,
        ASKED,
        {"role": "assistant", "content": [thinking, text, used]},
        {
            "role": "user",
            "content": [GIVEN | {"tool_use_id": used["id"]}],
        },
        **SHOWN,
    )
    assert content(told)[-1] == {"type": "text", "text": "get_weather says: 18 degrees"}
    assert told.json()["stop_reason"] == "end_turn"


def test_thoughts_that_were_changed_are_refused(caller: Caller) -> None:
    thinking, *others = content(post(caller, ASKED, **SHOWN))
    results = [GIVEN | {"tool_use_id": others[-1]["id"]}]
    changes: tuple[dict[str, str], ...] = (
        {},
        {"thinking": "Other."},
        {"signature": thinking["signature"][:-4] + "AAAA"},
    )
    answers = [
        post(
            caller,
            ASKED,
            {"role": "assistant", "content": [thinking | change, *others]},
            {"role": "user", "content": results},
        )
        for change in changes
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 400]
    assert "Invalid `signature` in `thinking` block" in answers[-1].text


def test_thoughts_that_are_not_shown_are_signed_too(caller: Caller) -> None:
    thinking, *others = content(post(caller, ASKED, thinking={"type": "adaptive"}))
    assert thinking["thinking"] == ""
    turn = {"role": "assistant", "content": [thinking, *others]}
    results = {"role": "user", "content": [GIVEN | {"tool_use_id": others[-1]["id"]}]}
    assert post(caller, ASKED, turn, results).status_code == 200


def test_a_stream_has_the_input_in_pieces(caller: Caller) -> None:
    steered = caller.prompt(
        tool_calls=[{"name": "get_weather", "arguments": {"city": "New York"}}, {"name": "now"}],
        text="One moment.",
        delta_tokens=1,
    )
    events = streamed(post(caller, {"role": "user", "content": steered}, stream=True))
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [block["type"] for block in blocks] == ["text", "tool_use", "tool_use"]
    assert [block.get("input") for block in blocks] == [None, {}, {}]
    inputs = ["", "", ""]
    for event in events:
        if event["type"] == "content_block_delta":
            inputs[event["index"]] += event["delta"].get("partial_json", "")
    assert inputs == ["", '{"city": "New York"}', "{}"]
    ends = [event for event in events if event["type"] == "message_delta"]
    assert ends[0]["delta"]["stop_reason"] == "tool_use"
    assert ends[0]["usage"]["output_tokens"] == 2 + 3 + 1
    assert caller.entry()["tokens_emitted"] == 6


def test_a_character_of_the_input_can_be_split_over_two_packets(caller: Caller) -> None:
    calls = [{"name": "get_weather", "arguments": {"city": "Zürich"}}]
    steered = caller.prompt(tool_calls=calls, split=True)
    body = {
        "model": MODEL,
        "max_tokens": 500,
        "messages": [{"role": "user", "content": steered}],
        "tools": [WEATHER],
        "stream": True,
    }
    url = f"{caller.simulator.url}/anthropic/v1/messages"
    headers = {"x-api-key": "alice", "anthropic-version": "2023-06-01"}
    with caller.http.stream("POST", url, json=body, headers=headers) as answer:
        packets = list(answer.iter_raw())
    assert any(packet.endswith("ü".encode()[:1]) for packet in packets)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "none"}, []),
        ({"type": "any"}, ["get_weather"]),
        ({"type": "tool", "name": "add"}, ["add"]),
        ({"type": "auto"}, []),
    ],
)
def test_a_choice_is_obeyed(caller: Caller, choice: dict[str, Any], expected: list[str]) -> None:
    greeting = {"role": "user", "content": "Good morning!"}
    blocks = content(post(caller, greeting, tools=[WEATHER, tool("add")], tool_choice=choice))
    assert [block["name"] for block in blocks if block["type"] == "tool_use"] == expected
    assert (blocks[0]["type"] == "text") == (not expected)


def test_calls_come_one_by_one_where_they_may_not_be_parallel(caller: Caller) -> None:
    question = {"role": "user", "content": "The weather in Paris and Rome?"}
    for fields, count in (({}, 2), ({"disable_parallel_tool_use": True}, 1)):
        blocks = content(post(caller, question, tool_choice={"type": "auto"} | fields))
        assert [block["type"] for block in blocks].count("tool_use") == count


def test_a_function_that_the_prompt_says_to_call_gets_the_answer(caller: Caller) -> None:
    system = "Give your answer by calling the function `reply`, and write nothing else."
    tools = [WEATHER, tool("reply")]
    *_, used = content(post(caller, ASKED, CALLED, ANSWERED, tools=tools, system=system))
    assert (used["name"], used["input"]) == ("reply", {"city": "Paris"})


@pytest.mark.parametrize(
    ("messages", "fields", "words"),
    [
        ([ASKED, CALLED, ASKED], {}, "without `tool_result` blocks immediately after: toolu_1"),
        ([ASKED, ANSWERED], {}, "unexpected `tool_use_id` found"),
        (
            [ASKED, CALLED, {"role": "user", "content": [{"type": "text", "text": "x"}, GIVEN]}],
            {},
            "without `tool_result`",
        ),
        ([ASKED, CALLED, ANSWERED, CALLED, ANSWERED], {}, "ids must be unique"),
        ([ASKED, CALLED, ANSWERED], {"tools": []}, "must define tools"),
        ([ASKED], {"tools": [tool("a" * 65)]}, "tools.0.custom.name"),
        ([ASKED], {"tools": [WEATHER, WEATHER]}, "must be unique"),
        ([ASKED], {"tools": [{"name": "a", "input_schema": {"type": "array"}}]}, "input_schema"),
        (
            [ASKED],
            {"tools": [{"name": "a", "input_schema": {"type": "object", "anyOf": [{}]}}]},
            "top level",
        ),
        ([ASKED], {"tool_choice": {"type": "always"}}, "tool_choice"),
        ([ASKED], {"tool_choice": {"type": "tool", "name": "add"}}, "not found in provided tools"),
        ([ASKED], {"tools": None, "tool_choice": {"type": "auto"}}, "while providing tools"),
        (
            [ASKED],
            {"tool_choice": {"type": "any"}, "thinking": {"type": "adaptive"}},
            "Thinking may not be enabled",
        ),
        ([ASKED], {"tool_choice": {"type": "any"}, "model": "claude-opus-5-5"}, "Forced tool use"),
        ([ASKED], {"thinking": {"type": "adaptive", "block_binding": {}}}, "Extra inputs"),
        (
            [ASKED],
            {
                "output_config": {
                    "format": {"type": "json_schema", "schema": {"type": "integer", "minimum": 1}}
                }
            },
            "property 'minimum' is not supported",
        ),
    ],
)
def test_what_anthropic_refuses_is_refused(
    caller: Caller, messages: list[dict[str, Any]], fields: dict[str, Any], words: str
) -> None:
    answer = post(caller, *messages, **fields)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_an_answer_has_the_form_that_was_asked_for(caller: Caller) -> None:
    form = {"type": "json_schema", "schema": WEATHER["input_schema"]}
    (block,) = content(post(caller, ASKED, tools=None, output_config={"format": form}))
    assert json.loads(block["text"]) == {"city": "Paris"}
