"""Pictures in messages: a model that can see looks at them, beside the text or instead of it."""

import base64
from typing import Any

import pytest

from billing.services import reconciliation
from media.probe.tests.samples import picture
from publicapi.tests.v1.agent import EACH_WIRE, QUESTION, asks, body_of, call, message_of, result
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.v1.chat import MAX_BODY, MAX_BODY_WITH_PICTURES
from publicapi.v1.pictures import MAX_PICTURES

SEEN = "The picture is 40 x 30 pixels and mostly turquoise."
BLIND = "deepseek-v4-pro"


def shown(size: tuple[int, int] = (40, 30), **fields: Any) -> dict[str, Any]:
    """A part with a picture."""
    data = base64.b64encode(picture("PNG", size)).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", **fields}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def turn(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


@pytest.fixture
def alice(customer: NewCustomer) -> Customer:
    """On Max, with a key for pictures."""
    return customer(features=("vision",))


def asked(alice: Customer, *messages: dict[str, Any], **fields: Any) -> str:
    body = {"model": IN_PLAN, "messages": list(messages), **fields}
    return str(message_of(alice.post(json=body))["content"])


@EACH_WIRE
def test_the_model_sees_a_picture_beside_the_text(alice: Customer, model: str) -> None:
    assert SEEN in asked(alice, turn(text("What is this?"), shown()), model=model)


@EACH_WIRE
def test_a_picture_alone_is_a_question(alice: Customer, model: str) -> None:
    assert SEEN in asked(alice, turn(shown()), model=model)


@EACH_WIRE
def test_pictures_come_in_their_order(alice: Customer, model: str) -> None:
    first, second = shown((40, 30)), shown((50, 30), detail="low")
    messages = (turn(text("Which?"), first), turn(second, text("And this?")))
    said = asked(alice, *messages, model=model)
    assert "50 x 30" in said
    assert said.find("40 x 30") < said.find("50 x 30")


@EACH_WIRE
def test_the_result_of_a_tool_may_be_a_picture(customer: NewCustomer, model: str) -> None:
    agent = customer(features=("tools", "vision"))
    question = {"role": "user", "content": QUESTION}
    turns = [asks(call()), result(content=[text("Here:"), shown()])]
    body = body_of(agent, messages=[question, *turns], model=model)
    assert SEEN in message_of(agent.post(json=body))["content"]


def test_without_tools_the_result_of_a_tool_is_ignored(alice: Customer) -> None:
    turns = [asks(call()), result(content=[shown()])]
    response = alice.post(json={**alice.body(), "messages": [turn(text("Hi")), *turns]})
    assert response.status_code == 200
    names = response.headers["x-ignored-parameters"]
    assert names == "messages.image_url, messages.tool, messages.tool_calls"


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_nobody_but_the_user_shows_pictures(alice: Customer, role: str) -> None:
    messages = [{"role": role, "content": [shown(), text("Look.")]}, turn(text("Hi"))]
    response = alice.post(json={**alice.body(), "messages": messages})
    assert response.status_code == 200
    assert response.headers["x-ignored-parameters"] == "messages.image_url"


def test_neither_text_nor_a_picture_of_the_user_is_refused(alice: Customer) -> None:
    for content in ([], [text("")], [{"type": "input_audio", "input_audio": {}}]):
        body = {**alice.body(), "messages": [turn(*content)]}
        refusal(alice.post(json=body), 400, "invalid_messages")


URL = "messages[0].content[1].image_url"


@pytest.mark.parametrize(
    ("part", "param"),
    [
        ({"type": "image_url"}, URL),
        ({"type": "image_url", "image_url": "data:image/png;base64,aaaa"}, URL),
        ({"type": "image_url", "image_url": {}}, f"{URL}.url"),
        ({"type": "image_url", "image_url": {"url": 5}}, f"{URL}.url"),
        (shown(detail="closely"), f"{URL}.detail"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_what_is_no_picture_is_named(alice: Customer, part: dict[str, Any], param: str) -> None:
    body = {**alice.body(), "messages": [turn(text("Look:"), part)]}
    assert refusal(alice.post(json=body), 400, "invalid_body")["param"] == param
    assert (alice.charges(), alice.provider_calls()) == ([], [])


def test_too_many_pictures_are_refused(alice: Customer) -> None:
    body = {**alice.body(), "messages": [turn(*[shown((1, 1))] * (MAX_PICTURES + 1))]}
    error = refusal(alice.post(json=body), 400, "invalid_body")
    assert error["param"] == f"messages[0].content[{MAX_PICTURES}].image_url.url"


def test_a_model_that_sees_nothing_is_refused_before_a_picture_is_fetched(alice: Customer) -> None:
    inside = {"type": "image_url", "image_url": {"url": "https://127.0.0.1/a.png"}}
    body = {**alice.body(model=BLIND), "messages": [turn(text("a")), turn(text("b"), inside)]}
    error = refusal(alice.post(json=body), 400, "unsupported_parameter")
    assert error["param"] == "messages[1].content[1].image_url.url"
    assert (alice.charges(), alice.provider_calls()) == ([], [])


def test_a_body_with_pictures_may_be_larger(alice: Customer, customer: NewCustomer) -> None:
    bob = customer(name="bob")
    filler: dict[str, Any] = {"filler": "a" * (MAX_BODY + 1)}
    assert alice.chat(**filler).status_code == 200
    refusal(bob.chat(**filler), 400, "input_too_long")
    too_large = b" " * (MAX_BODY_WITH_PICTURES + 1)
    error = refusal(alice.post(content=too_large), 400, "input_too_long")
    assert error["message"] == "The body is larger than 20 MB."


@EACH_WIRE
def test_pictures_cost_the_tokens_that_the_provider_counts(alice: Customer, model: str) -> None:
    marker = alice.prompt("What is this?")
    asked(alice, turn(text(marker), shown((400, 300))), model=model)
    witness = alice.provider_call()
    cost = alice.listed_cost(model, witness["prompt_tokens"], witness["completion_tokens"])
    assert alice.spent_of_plan(model) == cost > 0
    assert reconciliation.find_violations() == []
