"""What a request with tools, or with a form for the answer, may hold: everything else is a 400 that
names the place, before anything is held."""

import json
from typing import Any

import pytest

from ai.providers.call_ids import MAX_ID
from publicapi.tests.v1.agent import CITY, QUESTION, WEATHER, Message, asks, call, result
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN
from publicapi.tests.v1.errors import PARAMS, refusal
from publicapi.v1.chat_schema import ChatInput, parse
from publicapi.v1.errors import InputTooLong, InvalidBody

USER = {"role": "user", "content": QUESTION}


def read(**fields: Any) -> ChatInput:
    """A request with a tool, of a key for tools and structured outputs."""
    body = {"model": IN_PLAN, "messages": [USER], "tools": [WEATHER], **fields}
    return parse(json.dumps(body).encode(), frozenset({"tools", "structured_outputs"}))


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


def nested(levels: int) -> dict[str, Any]:
    """A schema in which so many objects and lists stand in one another."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range((levels - 1) // 2):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def form(**schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, **schema}}


def refused(**fields: Any) -> tuple[str, str]:
    """The place and the sentence of a refusal."""
    with pytest.raises(InvalidBody) as refusal:
        read(**fields)
    param = refusal.value.extra["param"]
    assert PARAMS["invalid_body"].fullmatch(param)
    return param, refusal.value.text


F = "tools[0].function"
NEARLY_TOO_LARGE = {"type": "object", "description": "a" * 65_000}
LARGE = {"type": "object", "description": "a" * 1_000_000}


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ("many", "tools"),
        ([5], "tools[0]"),
        ([{}], "tools[0].type"),
        ([{"type": "custom", "custom": {"name": "f"}}], "tools[0].type"),
        ([{"type": "web_search"}], "tools[0].type"),
        ([{"type": "function"}], F),
        ([{"type": "function", "function": {}}], f"{F}.name"),
        ([function(name="n" * 65)], f"{F}.name"),
        ([function(name="")], f"{F}.name"),
        ([function(name="weather.now")], f"{F}.name"),
        ([function(name="wéather")], f"{F}.name"),
        ([function(name="f\n")], f"{F}.name"),
        ([function(name=5)], f"{F}.name"),
        ([function(description=5)], f"{F}.description"),
        ([function(description="a\0b")], f"{F}.description"),
        ([function(strict="yes")], f"{F}.strict"),
        ([function(parameters=LARGE)], f"{F}.parameters"),
        ([function(parameters=nested(101))], f"{F}.parameters"),
        ([function(parameters=nested(65))], f"{F}.parameters"),
        ([function(parameters={"type": "string"})], f"{F}.parameters"),
        ([function(parameters={"properties": {}})], f"{F}.parameters"),
        ([function(parameters=[])], f"{F}.parameters"),
        ([function(parameters="{}")], f"{F}.parameters"),
        ([function(parameters={"type": "object", "title": "a\0b"})], f"{F}.parameters"),
        ([function(parameters={"type": "object", "properties": {"\0": {}}})], f"{F}.parameters"),
        ([function(), WEATHER, function()], "tools[2].function.name"),
        ([function(name=f"f{number}") for number in range(129)], "tools"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_tool_that_cannot_be_one_is_named(tools: Any, param: str) -> None:
    assert refused(tools=tools)[0] == param


@pytest.mark.parametrize("levels", [200, 1_000, 5_000, 30_000, 1_000_000])
@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_schema_of_any_depth_is_refused(levels: int, opening: str) -> None:
    deep = '{"type":"object","a":' + opening * levels + "1" + "}]"[opening == "["] * levels + "}"
    body = json.dumps({"model": IN_PLAN, "messages": [USER], "tools": [function(parameters="S")]})
    with pytest.raises(InvalidBody):
        parse(body.replace('"S"', deep).encode(), frozenset({"tools"}))


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tool_choice": "any"}, "tool_choice"),
        ({"tool_choice": "get_weather"}, "tool_choice"),
        ({"tool_choice": 5}, "tool_choice"),
        ({"tool_choice": {"type": "function"}}, "tool_choice.function"),
        ({"tool_choice": {"type": "allowed_tools", "function": {"name": "f"}}}, "tool_choice.type"),
        ({"tool_choice": function(name="other")}, "tool_choice.function.name"),
        ({"tool_choice": "required", "tools": []}, "tool_choice"),
        ({"tool_choice": function(name="f"), "tools": None}, "tool_choice.function.name"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
    ],
    ids=str,
)
def test_a_choice_that_there_is_not_is_named(fields: dict[str, Any], param: str) -> None:
    assert refused(**fields)[0] == param


CALLS = "messages[1].tool_calls"


@pytest.mark.parametrize(
    ("turns", "param"),
    [
        # Calls without a result, and results without a call.
        ([asks(call())], f"{CALLS}[0].id"),
        ([asks(call("a"), call("b")), result("a")], f"{CALLS}[1].id"),
        ([asks(call()), {"role": "user", "content": "Well?"}, result()], f"{CALLS}[0].id"),
        ([asks(call("a")), asks(call("b")), result("b")], f"{CALLS}[0].id"),
        ([result()], "messages[1].tool_call_id"),
        ([asks(call("a")), result("b")], "messages[2].tool_call_id"),
        ([asks(call()), result(), result()], "messages[3].tool_call_id"),
        ([asks(call()), {"role": "tool", "content": "Sunny."}], "messages[2].tool_call_id"),
        ([asks(call()), result(5)], "messages[2].tool_call_id"),  # type: ignore[arg-type]
        ([asks(call("a"), call("a")), result("a")], f"{CALLS}[1].id"),
        # Their shape.
        ([{"role": "assistant", "tool_calls": "many"}], CALLS),
        ([asks(5)], f"{CALLS}[0]"),  # type: ignore[arg-type]
        ([asks({"type": "function", "function": call()["function"]})], f"{CALLS}[0].id"),
        ([asks({**call(), "type": "custom"})], f"{CALLS}[0].type"),
        ([asks(call(""))], f"{CALLS}[0].id"),
        ([asks(call("i" * (MAX_ID + 1)))], f"{CALLS}[0].id"),
        ([asks(call("a\0b"))], f"{CALLS}[0].id"),
        ([asks(call(name="n" * 65))], f"{CALLS}[0].function.name"),
        ([asks(call(name="a b"))], f"{CALLS}[0].function.name"),
        ([asks(call(arguments={"city": "Paris"}))], f"{CALLS}[0].function.arguments"),  # type: ignore[arg-type]
        ([asks(call(arguments="a\0b"))], f"{CALLS}[0].function.arguments"),
        ([asks(*[call(f"call_{number}") for number in range(129)])], CALLS),
        ([asks(call()), result(content="a\0b")], "messages[2].content"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_turn_that_cannot_be_one_is_named(turns: list[Message], param: str) -> None:
    assert refused(messages=[USER, *turns])[0] == param


def test_the_sentence_names_the_call_without_what_the_provider_wants_back() -> None:
    stateful = f"call_7__a_{'e' * 5_000}"
    _, message = refused(messages=[USER, asks(call(stateful))])
    assert message.startswith("The call with the id `call_7` has no result")
    assert len(message) < 200


@pytest.mark.parametrize(
    ("response_format", "param"),
    [
        (5, ""),
        ("json_object", ""),
        ({}, ".type"),
        ({"type": "xml"}, ".type"),
        ({"type": "json_schema"}, ".json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": CITY}}, ".json_schema.name"),
        (form(schema=None), ".json_schema.schema"),
        (form(schema={}), ".json_schema.schema"),
        (form(schema="{}"), ".json_schema.schema"),
        (form(schema={"type": "array", "items": {}}), ".json_schema.schema"),
        (form(schema=LARGE), ".json_schema.schema"),
        (form(schema=nested(101)), ".json_schema.schema"),
        (form(name="a name"), ".json_schema.name"),
        (form(name="n" * 65), ".json_schema.name"),
        (form(description="a\0b"), ".json_schema.description"),
        (form(strict="yes"), ".json_schema.strict"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_form_that_there_is_not_is_named(response_format: Any, param: str) -> None:
    assert refused(response_format=response_format)[0] == f"response_format{param}"


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [function(name="n" * 64)]},
        {"tools": [function(name="aZ_9-")]},
        {"tools": [function(name=f"f{number}") for number in range(128)]},
        {"tools": [function(description=None, parameters=None, strict=None)]},
        {"tools": [function(parameters=nested(63))]},
        {"tools": [{**function(), "cache_control": {"type": "ephemeral"}}]},
        {"tools": None, "tool_choice": None, "parallel_tool_calls": None, "response_format": None},
        {"tools": [], "tool_choice": "auto"},
        {"tools": [], "tool_choice": "none"},
        {"tools": None, "response_format": {"type": "text"}},
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_within_the_bounds_is_taken(fields: dict[str, Any]) -> None:
    assert read(**fields).ignored == set()


# --- 400,000 characters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [function(name=f"f{n}", description="a" * 50_000) for n in range(9)]},
        {"tools": [function(name=f"f{n}", parameters=NEARLY_TOO_LARGE) for n in range(7)]},
    ],
    ids=["descriptions", "schemas"],
)
def test_definitions_count(fields: dict[str, Any]) -> None:
    with pytest.raises(InputTooLong):
        read(**fields)


@pytest.mark.parametrize(
    "turns",
    [
        [asks(call(arguments="a" * 400_000)), result()],
        [asks(call()), result(content="a" * 400_000)],
        [
            turn
            for n in range(4)
            for call_id in [str(n) + "i" * (MAX_ID - 1)]
            for turn in (asks(call(call_id)), result(call_id))
        ],
    ],
    ids=["arguments", "results", "ids"],
)
def test_calls_and_results_count(turns: list[Message]) -> None:
    with pytest.raises(InputTooLong):
        read(messages=[USER, *turns])


# --- Through the service --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [function(name="n" * 65)]}, "tools[0].function.name"),
        ({"tools": [function(parameters=LARGE)]}, "tools[0].function.parameters"),
        ({"tool_choice": "any"}, "tool_choice"),
        ({"messages": [USER, result()]}, "messages[1].tool_call_id"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_refusal_names_the_place_and_holds_nothing(
    customer: NewCustomer, fields: dict[str, Any], param: str
) -> None:
    agent = customer(features=("tools",))
    error = refusal(agent.chat(**{"tools": [WEATHER], **fields}), 400, "invalid_body")
    assert error["param"] == param
    assert (agent.charges(), agent.provider_calls()) == ([], [])
