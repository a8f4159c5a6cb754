"""The JSON Schemas that Anthropic enforces, and those that are refused before they go out."""

from typing import Any

import pytest

from ai.providers.anthropic_request import body_of, check
from ai.providers.errors import Unsupported
from ai.providers.types import JsonOutput, Tool, Tools

from .tool_calls import TIME, asking


def nested(**schema: Any) -> dict[str, Any]:
    """An object with one property of that schema."""
    return {"type": "object", "properties": {"x": schema}, "additionalProperties": False}


TREE = {
    "$defs": {"Node": nested(**{"$ref": "#/$defs/Node"})},
    **nested(**{"$ref": "#/$defs/Node"}),
}


# Each definition refers to the next one.
CHAIN = {
    "$defs": {
        "X0": {"type": "string"},
        **{f"X{i}": nested(**{"$ref": f"#/$defs/X{i - 1}"}) for i in range(1, 3000)},
    },
    **nested(**{"$ref": "#/$defs/X2999"}),
}


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        (nested(type="integer", minimum=1), "`minimum: 1` (at properties.x)"),
        (nested(type="integer", maximum=2**53 - 2), "`maximum: 9007199254740990`"),
        (nested(type="number", maximum=2**53 - 1), "`maximum: 9007199254740991`"),
        (nested(type="string", maxLength=3), "`maxLength: 3`"),
        (nested(type="string", format="phone"), "`format: phone`"),
        (nested(type="string", pattern="^(?=a)"), "`pattern: ^(?=a)`"),
        (nested(type="array", items={}, minItems=2), "`minItems: 2`"),
        (nested(oneOf=[{"type": "null"}]), "`oneOf: ...`"),
        (nested(enum=[["a"]]), "`enum: ...`"),
        (nested(type="object", additionalProperties=True), "`additionalProperties: True`"),
        (nested(type="object"), "`additionalProperties: false` alone (at properties.x)"),
        (nested(anyOf=[{"type": ["object", "null"]}]), "(at properties.x.anyOf[0])"),
        (nested(**{"$ref": "https://example.com/schema"}), "`$ref: https://example.com/schema`"),
        (TREE, "recursive"),
        (nested(**{"$ref": "#"}), "recursive"),
        (nested(type="array", items={"$ref": "#/properties/x"}), "recursive"),
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


@pytest.mark.parametrize(
    "schema",
    [
        nested(type="string", format="date-time", description="When.", title="When"),
        nested(type=["string", "null"], enum=["a", None]),
        nested(type="array", items={"type": "number"}, minItems=1),
        nested(anyOf=[{"const": "a"}, {"type": "integer", "default": 3}]),
        nested(type="string", pattern=r"^[a-z]{2,3}(?:-\d+)?$"),
        {"$defs": {"X": {"type": "string"}}, **nested(**{"$ref": "#/$defs/X"})},
        CHAIN,
        # A property may have the name of a keyword.
        {"type": "object", "properties": {"minimum": {}}, "additionalProperties": False},
    ],
)
def test_what_is_enforced_is_taken(schema: dict[str, Any]) -> None:
    check(asking(output=JsonOutput(schema, strict=True)))
    assert "output_config" in body_of(asking(output=JsonOutput(schema, strict=True)))


def test_the_widest_bounds_of_an_integer_are_left_out_where_the_schema_is_enforced() -> None:
    """Zod writes them for any integer."""
    bounded = nested(type="integer", minimum=-(2**53 - 1), maximum=2**53 - 1)
    output = JsonOutput(bounded, strict=True)
    tools = Tools((Tool("strict", "", bounded, strict=True), Tool("loose", "", bounded)))
    check(asking(output=output, tools=tools))
    body = body_of(asking(output=output, tools=tools))
    unbounded = nested(type="integer")
    assert body["output_config"]["format"]["schema"] == unbounded
    assert [tool["input_schema"] for tool in body["tools"]] == [unbounded, bounded]


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {"anyOf": [{"type": "object"}]}, {"type": "object", "oneOf": []}]
)
def test_the_arguments_of_a_tool_are_an_object(schema: dict[str, Any]) -> None:
    with pytest.raises(Unsupported, match=r"of objects|at the top"):
        check(asking(tools=Tools((Tool("f", "", schema),))))
