"""Answers in JSON have the form that a request asks for, or that its prompt shows."""

import json
from typing import Any

import pytest

from simulator.tests.agent import NUMBER, TEXT, WEATHER, Agent, calls
from simulator.tests.conftest import Caller

ASKED = {"role": "user", "content": "The weather in Paris?"}
PERSON = {
    "type": "object",
    "properties": {"name": TEXT, "age": NUMBER},
    "required": ["name", "age"],
}
STRICT = {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}


def form(schema: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "place", "schema": schema} | fields}


def test_an_answer_has_the_form_that_was_asked_for(caller: Caller) -> None:
    agent = Agent(caller, response_format=form(STRICT | {"additionalProperties": False}))
    choice = agent.ask("The weather in New York?")
    assert json.loads(choice["message"]["content"]) == {"city": "New York"}
    assert choice["finish_reason"] == "stop"


def test_a_form_comes_after_the_results(caller: Caller) -> None:
    agent = Agent(caller, tools=[WEATHER], response_format=form(STRICT))
    assert calls(agent.ask("The weather in Rome?")) == [("get_weather", {"city": "Rome"})]
    agent.answer()
    assert json.loads(agent.ask()["message"]["content"]) == {"city": "Rome"}


def test_a_form_has_what_the_question_names_before_what_results_name(caller: Caller) -> None:
    place = {"properties": {"city": TEXT, "celsius": NUMBER}, "required": ["city", "celsius"]}
    agent = Agent(caller, tools=[WEATHER], response_format=form({"type": "object"} | place))
    agent.ask("The weather in Rome?")
    agent.answer('{"city": "Rome", "celsius": 18}')
    said = json.loads(agent.ask()["message"]["content"])
    assert said == {"city": "Rome", "celsius": 18}


def test_the_words_of_a_schema_in_the_question_name_nothing(caller: Caller) -> None:
    agent = Agent(caller, response_format=form(PERSON))
    schema = json.dumps(PERSON)
    choice = agent.ask(f"Alice is 3. Format that by {schema}, with no ```json or ```python.")
    assert json.loads(choice["message"]["content"]) == {"name": "Alice", "age": 3}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Answer in JSON.", {"answer": "Alice is 3."}),
        (
            'As json such as {"event": "ADD", "old": [{"id": 4, "to": "x"}]}.',
            {"event": "ADD", "old": [{"id": 3, "to": "Alice"}]},
        ),
        (
            'As JSON such as {"people": [{"name": "x"}]} or {"people": []}.',
            {"people": [{"name": "Alice"}]},
        ),
        (
            'As JSON by\n{"type": "object", "properties": {"age": {"type": "integer"}}}',
            {"age": 3},
        ),
        (f"Follow this JSON schema:\n{json.dumps(PERSON, indent=1)}", {"name": "Alice", "age": 3}),
    ],
)
def test_any_object_has_the_form_of_the_example_or_schema_in_the_prompt(
    caller: Caller, prompt: str, expected: object
) -> None:
    agent = Agent(caller, response_format={"type": "json_object"})
    agent.messages = [{"role": "system", "content": prompt}]
    assert json.loads(agent.ask("Alice is 3.")["message"]["content"]) == expected


@pytest.mark.parametrize(
    ("provider", "fields", "param"),
    [
        ("openai", {"type": "json_object"}, "messages"),
        ("openai", {"type": "xml"}, "response_format.type"),
        ("openai", form(STRICT, name="a b"), "response_format.json_schema.name"),
        ("openai", form({"type": "string"}), "response_format.json_schema"),
        ("openai", form(STRICT, strict=True), "response_format.json_schema"),
        ("deepseek", form(STRICT), "response_format.type"),
    ],
)
def test_forms_that_a_provider_refuses_are_refused(
    caller: Caller, provider: str, fields: dict[str, Any], param: str
) -> None:
    answer = caller.post({"model": "m", "messages": [ASKED], "response_format": fields}, provider)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
