"""Tools: the model asks for calls of functions, the client answers with their results."""

import json
from typing import Any
from uuid import uuid4

import pytest

from billing.services import reconciliation
from publicapi.tests.v1.agent import (
    EACH_WIRE,
    QUESTION,
    WEATHER,
    WIRES,
    Message,
    asks,
    body_of,
    call,
    message_of,
    result,
    results_of,
    user,
)
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import CHAT, IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.test_chat_stream import chunks

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
CITIES = "What is the weather in Paris and Berlin?"


@pytest.fixture
def agent(customer: NewCustomer) -> Customer:
    """Alice, with a key for tools."""
    return customer(features=("tools",))


def asked(agent: Customer, *turns: Message, **fields: Any) -> Message:
    """The message that answers the question, or these turns after it."""
    messages = [user(agent, fields.pop("question", QUESTION)), *turns]
    return message_of(agent.post(json=body_of(agent, messages=messages, **fields)))


def arguments_of(message: Message) -> list[Any]:
    return [json.loads(each["function"]["arguments"]) for each in message["tool_calls"]]


# --- Calls and results ----------------------------------------------------------------------------


@STREAM
@EACH_WIRE
def test_the_model_asks_for_a_call_and_answers_from_its_result(
    agent: Customer, model: str, stream: bool
) -> None:
    turn = asked(agent, model=model, stream=stream)
    assert arguments_of(turn) == [{"city": "Paris"}]
    [called] = turn["tool_calls"]
    assert (called["type"], called["function"]["name"]) == ("function", "get_weather")

    answer = asked(agent, turn, result(called["id"], "Sunny."), model=model, stream=stream)
    assert "tool_calls" not in answer
    assert "Sunny." in answer["content"]


@STREAM
@EACH_WIRE
def test_several_calls_have_an_id_and_a_result_each(
    agent: Customer, model: str, stream: bool
) -> None:
    turn = asked(agent, question=CITIES, model=model, stream=stream)
    assert arguments_of(turn) == [{"city": "Paris"}, {"city": "Berlin"}]
    assert len({each["id"] for each in turn["tool_calls"]}) == 2

    answer = asked(agent, turn, *results_of(turn), question=CITIES, model=model, stream=stream)
    assert "Result 0." in answer["content"]
    assert "Result 1." in answer["content"]


@EACH_WIRE
def test_one_call_at_a_time_where_that_is_asked_for(agent: Customer, model: str) -> None:
    turn = asked(agent, question=CITIES, model=model, parallel_tool_calls=False)
    assert arguments_of(turn) == [{"city": "Paris"}]


@EACH_WIRE
def test_the_choice_says_whether_it_calls_and_what(agent: Customer, model: str) -> None:
    clock = {"type": "function", "function": {"name": "read_clock"}}
    named = {"type": "function", "function": {"name": "read_clock"}}
    both = {"model": model, "tools": [WEATHER, clock]}

    def called(**fields: Any) -> list[str]:
        message = asked(agent, **both, **fields)
        return [each["function"]["name"] for each in message.get("tool_calls", [])]

    assert called() == called(tool_choice="auto") == ["get_weather"]
    assert called(tool_choice="none") == []
    assert called(tool_choice="required", question="Hello!") != []
    assert called(tool_choice=named) == ["read_clock"]


@EACH_WIRE
def test_a_call_without_arguments_has_an_empty_object(agent: Customer, model: str) -> None:
    clock = {"type": "function", "function": {"name": "read_clock", "parameters": {}}}
    question = "Read the clock."
    turn = asked(agent, question=question, model=model, tools=[clock], stream=True)
    assert arguments_of(turn) == [{}]


@EACH_WIRE
def test_a_conversation_goes_on_with_another_model(agent: Customer, model: str) -> None:
    """The ids are those of the provider that was asked first."""
    turn = asked(agent, model=model)
    for other in (*WIRES, "grok-4.7"):
        assert "Result 0." in asked(agent, turn, *results_of(turn), model=other)["content"]


@EACH_WIRE
def test_arguments_that_are_no_json_are_passed_on(agent: Customer, model: str) -> None:
    turns = [asks(call(arguments="{city:")), result(content="That was no JSON.")]
    assert "no JSON" in asked(agent, *turns, model=model)["content"]


def test_results_may_have_parts(agent: Customer) -> None:
    parts = [{"type": "text", "text": text} for text in ("Sun", "ny.")]
    answer = asked(agent, asks(call()), result(content=parts))
    assert "Sunny." in answer["content"]


def test_a_conversation_without_tools_may_have_called_some(agent: Customer) -> None:
    answer = asked(agent, asks(call()), result(), tools=None)
    assert "Sunny." in answer["content"]


# --- The wire -------------------------------------------------------------------------------------


def test_the_answer_has_the_shape_that_clients_know(agent: Customer) -> None:
    response = agent.post(json=body_of(agent))
    [choice] = response.json()["choices"]
    [called] = choice["message"].pop("tool_calls")
    assert called.pop("id")
    assert called == {
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
    }
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": None},
        "logprobs": None,
        "finish_reason": "tool_calls",
    }


def test_an_answer_without_calls_has_no_such_field(agent: Customer) -> None:
    message = asked(agent, tool_choice="none")
    assert set(message) == {"role", "content", "refusal"}


@EACH_WIRE
def test_a_stream_brings_a_call_in_pieces(agent: Customer, model: str) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    body = body_of(agent, model=model, stream=True, tool_choice=named)
    first, begin, *pieces, last = chunks(agent.post(json=body))
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": None}
    [piece] = begin["choices"][0]["delta"]["tool_calls"]
    assert list(piece) == ["index", "id", "type", "function"]
    assert (piece["index"], piece["type"]) == (0, "function")
    assert piece["function"]["name"] == "get_weather"
    for chunk in pieces:
        [piece] = chunk["choices"][0]["delta"]["tool_calls"]
        assert (list(piece), list(piece["function"])) == (["index", "function"], ["arguments"])
    assert last["choices"][0]["delta"] == {}
    assert last["choices"][0]["finish_reason"] == "tool_calls"


def test_words_before_a_call_come_first(agent: Customer) -> None:
    steer: dict[str, Any] = {"text": "Let me look.", "tool_calls": [{"name": "get_weather"}]}
    for stream in (False, True):
        messages = [user(agent, **steer)]
        message = message_of(agent.post(json=body_of(agent, messages=messages, stream=stream)))
        assert message["content"] == "Let me look."
        assert len(message["tool_calls"]) == 1
    first = chunks(agent.post(json=body_of(agent, messages=[user(agent, **steer)], stream=True)))[0]
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}


# --- Money and repetitions ------------------------------------------------------------------------


@STREAM
@EACH_WIRE
def test_a_call_costs_the_tokens_that_the_provider_counts(
    agent: Customer, model: str, stream: bool
) -> None:
    asked(agent, model=model, stream=stream)
    witness = agent.provider_call()
    cost = agent.listed_cost(model, witness["prompt_tokens"], witness["completion_tokens"])
    assert witness["completion_tokens"] > 0
    assert agent.spent_of_plan(model) == cost > 0
    assert agent.spent_of_balance() == 0
    assert reconciliation.find_violations() == []


@STREAM
def test_the_same_request_brings_the_same_calls_and_is_billed_once(
    agent: Customer, stream: bool
) -> None:
    named = {"Idempotency-Key": f"order {uuid4()}"}
    body = body_of(agent, CITIES, stream=stream)
    first, second = (agent.post(json=body, headers=named) for _ in range(2))
    assert second.headers["idempotency-replayed"] == "true"
    assert message_of(second) == message_of(first)
    assert len(message_of(second)["tool_calls"]) == 2
    assert '"finish_reason":"tool_calls"' in second.text
    assert len(agent.provider_calls()) == len(agent.charges()) == 1


@STREAM
def test_a_retry_gets_the_calls_whose_answer_was_lost(agent: Customer, stream: bool) -> None:
    body = body_of(agent, messages=[user(agent, ttft_ms=200, delay_ms=200)], stream=stream)
    agent.hang_up_and_wait(CHAT, body)
    again = agent.post(json=body, headers={"x-stainless-retry-count": "1"})
    assert again.headers["x-idempotency-replayed"] == "true"
    assert arguments_of(message_of(again)) == [{"city": "Paris"}]
    assert len(agent.charges()) == 1


@pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5"])
def test_a_stream_that_breaks_off_in_a_call_is_billed_for_what_came(
    agent: Customer, model: str
) -> None:
    """Gemini sends a call whole, or not at all."""
    called = {"name": "get_weather", "arguments": {"city": "word " * 40}}
    steer: dict[str, Any] = {"tool_calls": [called], "fail": "after", "after_tokens": 20}
    messages = [user(agent, **steer)]
    response = agent.post(json=body_of(agent, model=model, messages=messages, stream=True))
    assert '"tool_calls"' in response.text
    assert '"code":"upstream_error"' in response.text
    charge = agent.charge()
    assert charge.status == "settled"
    assert charge.tokens_out >= 1
    assert agent.spent_of_plan(model) == agent.listed_cost(
        model, charge.tokens_in, charge.tokens_out
    )
    assert reconciliation.find_violations() == []


def test_a_model_that_calls_no_tools_is_refused_before_anything_is_held(agent: Customer) -> None:
    called = [user(agent), asks(call()), result()]
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "tools"),
        ({"tools": [], "messages": called}, "messages"),
    ]
    for fields, param in cases:
        response = agent.post(json=body_of(agent, model="smollm2-135m", **fields))
        error = refusal(response, 400, "unsupported_parameter")
        assert error["param"] == param
        assert "calls no tools" in error["message"]
    assert agent.charges() == []
