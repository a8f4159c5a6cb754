"""The simulator calls functions as a model would, and answers with their results."""

import json
from typing import Any

import httpx
import pytest

from simulator.tests.agent import ADD, FINAL, NUMBER, TEXT, TIME, WEATHER, Agent, calls, function
from simulator.tests.conftest import Caller, events


@pytest.mark.parametrize(
    ("question", "tools", "expected"),
    [
        ("What is the weather in Paris?", [WEATHER, ADD], [("get_weather", {"city": "Paris"})]),
        (
            "Weather in Paris, New York and Bonn?",
            [WEATHER],
            [("get_weather", {"city": city}) for city in ("Paris", "New York", "Bonn")],
        ),
        (
            "The weather in Rome and the time in Oslo, please.",
            [WEATHER, TIME],
            [("get_weather", {"city": "Rome"}), ("getTime", {"place": "Oslo"})],
        ),
        ("The weather in Paris, Texas?", [WEATHER], [("get_weather", {"city": "Paris"})]),
        ("Please add 3 and 4.5.", [WEATHER, ADD], [("add", {"a": 3, "b": 4.5})]),
        ("What does the clock in Oslo say?", [ADD, TIME], [("getTime", {"place": "Oslo"})]),
        ("Good morning!", [WEATHER, ADD], []),
        (
            "Good morning!",
            [WEATHER, FINAL],
            [("final_answer", {"answer": "You asked: “Good morning!”"})],
        ),
    ],
)
def test_the_words_of_the_question_decide_what_is_called(
    caller: Caller, question: str, tools: list[dict[str, Any]], expected: list[tuple[str, Any]]
) -> None:
    choice = Agent(caller, tools=tools).ask(question)
    assert calls(choice) == expected
    assert choice["finish_reason"] == ("tool_calls" if expected else "stop")
    assert (choice["message"]["content"] is None) == bool(expected)


def test_results_are_quoted_and_end_the_turn(caller: Caller) -> None:
    agent = Agent(caller, tools=[WEATHER])
    agent.ask("The weather in Paris and Rome?")
    agent.answer("18 degrees")
    choice = agent.ask()
    assert choice["message"]["content"] == (
        "get_weather says: 18 degrees\nget_weather says: 18 degrees"
    )
    assert choice["finish_reason"] == "stop"
    assert calls(agent.ask("And the weather in Oslo?")) == [("get_weather", {"city": "Oslo"})]


def test_calls_come_one_after_the_other_where_they_may_not_be_parallel(caller: Caller) -> None:
    agent = Agent(caller, tools=[WEATHER], parallel_tool_calls=False)
    asked = [calls(agent.ask("The weather in Paris and Rome?"))]
    for _ in range(2):
        agent.answer()
        asked.append(calls(agent.ask()))
    assert asked == [[("get_weather", {"city": "Paris"})], [("get_weather", {"city": "Rome"})], []]


def test_a_last_function_is_called_with_the_results(caller: Caller) -> None:
    agent = Agent(caller, tools=[WEATHER, FINAL], tool_choice="required")
    assert calls(agent.ask("The weather in Paris?")) == [("get_weather", {"city": "Paris"})]
    agent.answer("18 degrees")
    told = {"answer": "get_weather says: 18 degrees"}
    assert calls(agent.ask()) == [("final_answer", told)]


def test_a_function_of_any_object_has_the_keys_that_the_question_names(caller: Caller) -> None:
    anything = {"type": "function", "function": {"name": "say", "parameters": {"type": "object"}}}
    choice = {"type": "function", "function": {"name": "say"}}
    agent = Agent(caller, tools=[anything], tool_choice=choice)
    ((_, told),) = calls(agent.ask("A joke as JSON with 'setup' and 'punchline' keys."))
    assert set(told) == {"setup", "punchline"}


def test_where_a_call_is_required_it_is_at_last_one_that_was_not_made(caller: Caller) -> None:
    report = function("Report", city=TEXT, summary=TEXT)
    agent = Agent(caller, tools=[WEATHER, report], tool_choice="required")
    assert calls(agent.ask("The weather in Paris?")) == [("get_weather", {"city": "Paris"})]
    agent.answer("18 degrees")
    told = {"city": "Paris", "summary": "get_weather says: 18 degrees"}
    assert calls(agent.ask()) == [("Report", told)]


def test_a_forced_call_is_of_what_was_said_before_where_the_question_names_nothing(
    caller: Caller,
) -> None:
    agent = Agent(caller, tools=[WEATHER])
    agent.ask("The weather in Paris?")
    agent.answer("18 degrees in Paris")
    agent.ask()
    report = function("Report", city=TEXT, degrees=NUMBER)
    for choice in ("required", {"type": "function", "function": {"name": "Report"}}):
        asked = agent.ask("Now give it a form.", tools=[report], tool_choice=choice)
        assert calls(asked) == [("Report", {"city": "Paris", "degrees": 18})]
        agent.answer("Taken.")
        del agent.messages[-3:]


def test_an_observation_of_the_user_is_a_result(caller: Caller) -> None:
    agent = Agent(caller, tools=[WEATHER, FINAL], tool_choice="required")
    agent.messages = [
        {"role": "user", "content": "New task:\nThe weather in Paris?"},
        {"role": "assistant", "content": "Calling tools:\n[]"},
    ]
    told = {"answer": "The tool says: 18 degrees"}
    assert calls(agent.ask("Observation:\n18 degrees")) == [("final_answer", told)]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", []),
        ("auto", []),
        ("required", ["get_weather"]),
        ({"type": "function", "function": {"name": "add"}}, ["add"]),
    ],
)
def test_a_choice_that_is_forced_is_obeyed(
    caller: Caller, choice: object, expected: list[str]
) -> None:
    agent = Agent(caller, tools=[WEATHER, ADD], tool_choice=choice)
    assert [name for name, _ in calls(agent.ask("Good morning!"))] == expected


def test_a_stream_begins_a_call_with_its_name_and_empty_arguments(caller: Caller) -> None:
    body = caller.body(stream=True, delta_tokens=1) | {"tools": [WEATHER]}
    body["messages"][0]["content"] += "\nThe weather in Paris and New York?"
    chunks = events(caller.post(body).text)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    entries = [entry for delta in deltas for entry in delta.get("tool_calls", [])]
    names = [entry for entry in entries if "id" in entry]
    assert [(entry["index"], entry["function"]) for entry in names] == [
        (index, {"name": "get_weather", "arguments": ""}) for index in (0, 1)
    ]
    assert len({entry["id"] for entry in names}) == 2
    texts = ["", ""]
    for entry in entries:
        texts[entry["index"]] += entry["function"]["arguments"]
    assert [json.loads(text)["city"] for text in texts] == ["Paris", "New York"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert caller.entry()["tokens_emitted"] == caller.entry()["completion_tokens"] == 5


def test_each_word_of_the_arguments_is_a_token(caller: Caller) -> None:
    steered = [{"name": "get_weather", "arguments": '{"city": "New York"}'}]
    body = caller.body(tool_calls=steered, text="One moment.") | {"tools": [WEATHER]}
    answer = caller.post(body).json()
    assert answer["usage"]["completion_tokens"] == 2 + 3
    assert answer["choices"][0]["message"]["content"] == "One moment."
    (entry,) = answer["choices"][0]["message"]["tool_calls"]
    assert entry["function"] == steered[0]


def test_a_bound_cuts_arguments_and_keeps_the_calls_before_it(caller: Caller) -> None:
    steered = [{"name": name, "arguments": {"city": "New York"}} for name in ("one", "two", "six")]
    body = caller.body(tool_calls=steered) | {"tools": [WEATHER], "max_completion_tokens": 4}
    choice = caller.post(body).json()["choices"][0]
    texts = [entry["function"]["arguments"] for entry in choice["message"]["tool_calls"]]
    assert texts == ['{"city": "New York"}', '{"city":']
    assert choice["finish_reason"] == "length"


def test_steered_calls_end_with_their_results_but_for_calls_for_ever(caller: Caller) -> None:
    for forever in (False, True):
        steered = caller.prompt(tool_calls=[{"name": "add"}], calls_forever=forever)
        agent = Agent(caller, tools=[WEATHER])
        assert calls(agent.ask(steered)) == [("add", {})]
        agent.answer()
        assert calls(agent.ask()) == ([("add", {})] if forever else [])


def test_arguments_can_be_no_json(caller: Caller) -> None:
    question = caller.prompt(bad_arguments=True) + "\nThe weather in Paris?"
    choice = Agent(caller, tools=[WEATHER]).ask(question)
    with pytest.raises(json.JSONDecodeError):
        calls(choice)


def test_a_stream_can_be_cut_in_the_middle_of_arguments(caller: Caller) -> None:
    steered = [{"name": "add", "arguments": {"a": 1, "b": 2}}]
    body = caller.body(
        stream=True, tool_calls=steered, drop=True, after_tokens=2, delta_tokens=1
    ) | {"tools": [ADD]}
    with pytest.raises(httpx.ReadError):
        caller.post(body)
    assert caller.entry()["tokens_emitted"] == 2


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": []}, "tools"),
        ({"tools": [WEATHER] * 129}, "tools"),
        ({"tools": [function("a" * 65)]}, "tools[0].function.name"),
        ({"tools": [function("a b")]}, "tools[0].function.name"),
        ({"tools": [function("a", x={"type": "any"})]}, "tools[0].function.parameters"),
        ({"tools": [WEATHER], "tool_choice": "always"}, "tool_choice"),
        (
            {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "add"}}},
            "tool_choice",
        ),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"parallel_tool_calls": True}, "parallel_tool_calls"),
    ],
)
def test_functions_that_openai_refuses_are_refused(
    caller: Caller, fields: dict[str, Any], param: str
) -> None:
    answer = caller.post(caller.body() | fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


ASKED = {"role": "user", "content": "The weather in Paris?"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call12345",
            "type": "function",
            "function": {"name": "get_weather", "arguments": "{}"},
        }
    ],
}
ANSWERED = {"role": "tool", "tool_call_id": "call12345", "content": "18 degrees"}


@pytest.mark.parametrize(
    ("messages", "provider", "words"),
    [
        ([ASKED, ANSWERED], "openai", "must be a response to a preceeding message"),
        ([ASKED, CALLED, ANSWERED, ANSWERED], "openai", "must be a response"),
        ([ASKED, CALLED, ASKED], "openai", "did not have response messages: call12345"),
        ([ASKED, CALLED], "openai", "did not have response messages: call12345"),
        ([ASKED, CALLED, ANSWERED], "deepseek", "reasoning_content in the thinking mode"),
        ([ASKED, CALLED, ANSWERED], "moonshot", "reasoning_content is missing in assistant"),
    ],
)
def test_a_conversation_that_a_provider_refuses_is_refused(
    caller: Caller, messages: list[dict[str, Any]], provider: str, words: str
) -> None:
    answer = caller.post({"model": "m", "messages": messages, "tools": [WEATHER]}, provider)
    assert answer.status_code == 400
    assert words in answer.text


@pytest.mark.parametrize("provider", ["deepseek", "moonshot"])
def test_a_vendor_that_wants_its_reasoning_back_has_some_before_a_call(
    caller: Caller, provider: str
) -> None:
    agent = Agent(caller, provider, tools=[WEATHER])
    assert agent.ask("The weather in Paris?")["message"]["reasoning_content"]
    agent.answer()
    assert "18 degrees" in agent.ask()["message"]["content"]


def test_ids_of_mistral_have_nine_letters_and_digits(caller: Caller) -> None:
    agent = Agent(caller, "mistral", tools=[WEATHER], tool_choice="any")
    (entry,) = agent.ask("The weather in Paris?")["message"]["tool_calls"]
    assert len(entry["id"]) == 9
    assert entry["id"].isalnum()
    body = {"model": "m", "messages": [ASKED, CALLED, ANSWERED], "tools": [WEATHER]}
    assert caller.post(body, "mistral").status_code == 200
    text = json.dumps(body).replace("call12345", "call_1234")
    assert "length of 9" in caller.post(json.loads(text), "mistral").json()["message"]


def test_ids_that_are_too_long_for_openai_are_refused(caller: Caller) -> None:
    text = json.dumps({"model": "m", "messages": [ASKED, CALLED, ANSWERED], "tools": [WEATHER]})
    body = json.loads(text.replace("call12345", "c" * 41))
    assert caller.post(body).json()["error"]["param"] == "messages[1].tool_calls[0].id"
    assert caller.post(body, "xai").status_code == 200


@pytest.mark.parametrize(
    ("provider", "fields", "status"),
    [
        ("deepseek", {"tool_choice": "required"}, 400),
        ("deepseek", {"tool_choice": "required", "thinking": {"type": "disabled"}}, 200),
        ("qwen", {"tool_choice": "required"}, 200),
        ("qwen", {"tool_choice": "required", "enable_thinking": True}, 400),
        ("moonshot", {"tool_choice": "required"}, 200),
        ("moonshot", {"tool_choice": {"type": "function", "function": WEATHER["function"]}}, 400),
    ],
)
def test_some_vendors_force_no_call_while_the_model_thinks(
    caller: Caller, provider: str, fields: dict[str, Any], status: int
) -> None:
    body = {"model": "m", "messages": [ASKED], "tools": [WEATHER]} | fields
    assert caller.post(body, provider).status_code == status
