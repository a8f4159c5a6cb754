"""A key has the features that it was given: of what belongs to others nothing has an effect."""

from typing import Any

import pytest

from common.tests.upstream import Upstream
from publicapi.tests.v1.agent import CITY, QUESTION, WEATHER, asks, call, result
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.scripted import Scripted
from tests.personas import new_key

HEADER = "x-ignored-parameters"
# One white pixel.
PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTOs"
    "OAAAAABJRU5ErkJggg=="
)
FORM = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
TOOLS: dict[str, Any] = {"tools": [WEATHER], "tool_choice": "required"}
EVERYTHING: dict[str, Any] = {
    "model": IN_PLAN,
    **TOOLS,
    "response_format": FORM,
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "image_url", "image_url": {"url": PNG}},
            ],
        },
        asks(call()),
        result(),
        {"role": "function", "name": "f", "content": "Rainy."},
    ],
}
OF_TOOLS = {"messages.tool", "messages.tool_calls", "tool_choice", "tools"}
ALL = ("tools", "structured_outputs", "vision")


def ignored(response: Any) -> set[str]:
    assert response.status_code == 200, response.text
    return set(response.headers[HEADER].split(", ")) - {"messages.function"}


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ((), OF_TOOLS | {"response_format", "messages.image_url"}),
        (("tools",), {"response_format", "messages.image_url"}),
        (("structured_outputs",), OF_TOOLS | {"messages.image_url"}),
        (("vision",), OF_TOOLS | {"response_format"}),
        (ALL, set()),
    ],
    ids=["none", "tools", "structured_outputs", "vision", "all"],
)
def test_what_needs_another_feature_is_ignored_and_named(
    customer: NewCustomer, features: Any, expected: set[str]
) -> None:
    alice = customer(features=features)
    assert ignored(alice.post(json=EVERYTHING)) == expected


@pytest.mark.parametrize("features", [(), ("structured_outputs", "vision")], ids=str)
def test_without_the_feature_it_may_hold_anything(customer: NewCustomer, features: Any) -> None:
    alice = customer(features=features)
    user = {"role": "user", "content": QUESTION}
    turns = [
        {"role": "assistant", "content": "Well.", "tool_calls": "many"},
        {"role": "tool", "content": "Sunny.", "tool_call_id": 5},
    ]
    response = alice.post(
        json={"model": IN_PLAN, "messages": [user, *turns], "tools": 5, "tool_choice": {"a": 1}}
    )
    assert ignored(response) == {"messages.tool", "messages.tool_calls", "tool_choice", "tools"}


def test_the_functions_of_former_times_are_ignored(customer: NewCustomer) -> None:
    alice = customer(features=ALL)
    functions = [WEATHER["function"]]
    body = alice.body(functions=functions, function_call={"name": "get_weather"})
    assert ignored(alice.post(json=body)) == {"functions", "function_call"}


def test_a_feature_that_is_taken_away_is_gone_from_the_next_request_on(
    customer: NewCustomer,
) -> None:
    alice = customer(features=("tools",))
    assert HEADER not in alice.chat(**TOOLS).headers
    alice.change_key(features=[])
    assert ignored(alice.chat(**TOOLS)) == {"tool_choice", "tools"}


def test_each_key_of_an_account_has_its_own(customer: NewCustomer) -> None:
    alice = customer(features=("tools",))
    _, bare = new_key(alice.user)
    body = alice.body(tools=[WEATHER])
    assert HEADER not in alice.post(json=body).headers
    plain = alice.post(json=body, headers={"Authorization": f"Bearer {bare}"})
    assert ignored(plain) == {"tools"}


def test_without_features_nothing_of_it_goes_upstream(
    committed: None, scripted: Scripted, upstream: Upstream
) -> None:
    alice: Customer = scripted.new_customer()
    assert alice.post(json={**EVERYTHING, "stream": True}).status_code == 200
    [asked] = upstream.calls
    plain = {"model", "messages", "max_completion_tokens", "stream", "stream_options"}
    assert asked.json.keys() == plain
    assert asked.json["messages"] == [{"role": "user", "content": QUESTION}]
