"""What the simulator makes obeys the schema, and has in it what the question names."""

import json
import re
from typing import Any

import pytest

from simulator import json_answers, patterns, schemas
from simulator.findings import find, joined_in

QUESTION = "Alice is 30, and lives in New York with 3.5 cats; her priority is low."
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NODE = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "parts": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
    },
    "required": ["name", "parts", "next"],
}


def of(required: bool = True, **properties: Any) -> dict[str, Any]:
    names = list(properties) if required else []
    return {"type": "object", "properties": properties, "required": names}


@pytest.mark.parametrize(
    "schema",
    [
        of(a=WHOLE | {"minimum": 50, "maximum": 52}, b={"type": "number", "maximum": -3.5}),
        of(a={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        of(a=WHOLE | {"multipleOf": 7, "minimum": 40}),
        of(a=TEXT | {"minLength": 30}, b=TEXT | {"maxLength": 2}),
        of(a=TEXT | {"pattern": r"^[A-Z]{2}-\d{4}$"}, b=TEXT | {"pattern": "^(foo|bar)[a-z]+$"}),
        of(a=TEXT | {"format": "date-time"}, b=TEXT | {"format": "email"}),
        of(a={"enum": [1, 2]}, b={"const": None}, c={"type": "boolean", "const": False}, d={}),
        of(a={"type": "array", "items": TEXT, "minItems": 5, "uniqueItems": True}),
        of(a={"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1}),
        of(a={"type": "array", "prefixItems": [WHOLE, TEXT], "items": False}),
        of(a={"oneOf": [of(kind={"const": "a"}, n=WHOLE), of(kind={"const": "b"})]}),
        of(a={"type": ["string", "null"]}, b={"anyOf": [{"type": "null"}, WHOLE]}),
        {"type": "object", "allOf": [of(a=TEXT), of(b={"type": "boolean"})]},
        {"type": "object", "additionalProperties": WHOLE, "minProperties": 2},
        {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
        of(required=False, a={"$ref": "#"}),
    ],
)
@pytest.mark.parametrize("question", ["Hello", QUESTION])
def test_a_value_obeys_its_schema(schema: dict[str, Any], question: str) -> None:
    value = schemas.value_of(schema, find(question))
    assert schemas.obeys(value, schema), value


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (of(name=TEXT, age=WHOLE), {"name": "Alice", "age": 30}),
        (
            of(first=TEXT, town=TEXT, other=TEXT),
            {"first": "Alice", "town": "New York", "other": "other"},
        ),
        (of(count=WHOLE, cats={"type": "number"}), {"count": 30, "cats": 3.5}),
        (of(priority={"enum": ["high", "low"]}), {"priority": "low"}),
        (of(names={"type": "array", "items": TEXT}), {"names": ["Alice", "New York"]}),
        (of(query=TEXT), {"query": QUESTION}),
        (of(people={"type": "array", "items": of(name=TEXT)}), {"people": [{"name": "Alice"}]}),
        (of(required=False, priority={"enum": ["high", "low"]}, unit=TEXT), {"priority": "low"}),
        (of(required=False, unit=TEXT, size=TEXT), {"unit": "Alice"}),
    ],
)
def test_values_are_taken_from_the_question(schema: dict[str, Any], expected: object) -> None:
    assert schemas.value_of(schema, find(QUESTION)) == expected


def test_a_list_has_an_object_for_each_thing_of_a_list() -> None:
    places = {"type": "array", "items": of(city=TEXT)}
    made = schemas.value_of(of(places=places), find("Compare Paris, Rome and Bonn, as JSON."))
    assert made == {"places": [{"city": "Paris"}, {"city": "Rome"}, {"city": "Bonn"}]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Compare Paris, New York and Bonn.", ["Paris", "New York", "Bonn"]),
        ("What is it like in Paris and in Rome?", ["Paris", "Rome"]),
        ('Look for "red fox" or "owl".', ["red fox", "owl"]),
        ("Send Alice a letter about Paris.", []),
    ],
)
def test_things_of_a_list_are_found(text: str, expected: list[str]) -> None:
    assert joined_in(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("A joke as JSON with 'setup' and 'punchline' keys.", {"setup", "punchline"}),
        ('A joke as JSON, such as {"joke": "...", "stars": 3}', {"joke", "stars"}),
        ("A joke as JSON.", {"answer"}),
    ],
)
def test_any_object_has_the_keys_that_the_question_shows(question: str, expected: set[str]) -> None:
    assert json.loads(json_answers.written({}, [question], question, "")).keys() == expected


def test_an_expression_is_taken_whole() -> None:
    found = find("What is (3 + 4.5) * 2, please?")
    assert schemas.value_of(of(expression=TEXT), found) == {"expression": "(3 + 4.5) * 2"}


@pytest.mark.parametrize(
    "pattern", [r"^\d{5}(-\d{4})?$", "^#[0-9a-fA-F]{6}$", r"^[\w.]+@\w+\.\w{2,}$", r"[^\s]+", "a|b"]
)
def test_an_example_matches_its_pattern(pattern: str) -> None:
    assert re.search(pattern, patterns.example(pattern))


def test_a_pattern_can_be_long_or_broken() -> None:
    assert len(patterns.example("(a{100000}){100000}")) <= 1000
    for broken in ("[", "(", "a{", "\\", "[^", ")*"):
        patterns.example(broken)
        assert patterns.matches("[", "x")


def test_a_malformed_schema_is_noticed() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"items": deep}
    malformed: list[Any] = [{"type": "any"}, {"required": "a"}, {"properties": []}, [], deep]
    for schema in malformed:
        assert schemas.malformed(schema), schema
    assert schemas.malformed(of(a=TEXT)) is None
