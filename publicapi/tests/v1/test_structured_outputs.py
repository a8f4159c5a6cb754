"""Structured outputs: the answer has the form that the client asks for."""

import json
from typing import Any
from uuid import uuid4

import pytest

from ai.providers.tests.chunks import DONE, delta, finish, usage
from billing.services import reconciliation
from common.tests.upstream import JSON, Answer, Upstream
from publicapi.tests.v1.agent import CITY, EACH_WIRE, WEATHER, message_of, user
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.scripted import Scripted
from publicapi.tests.v1.test_chat_stream import chunks

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
QUESTION = "I live in Paris. Where do I live?"


def form(*, strict: bool = True, schema: Any = CITY) -> dict[str, Any]:
    named = {"name": "city", "description": "A city.", "schema": schema, "strict": strict}
    return {"type": "json_schema", "json_schema": named}


@pytest.fixture
def alice(customer: NewCustomer) -> Customer:
    """On Max, with a key for structured outputs."""
    return customer(features=("structured_outputs",))


def asked(alice: Customer, response_format: Any, /, **fields: Any) -> dict[str, Any]:
    messages = [user(alice, fields.pop("question", QUESTION), **fields.pop("steer", {}))]
    body = {"model": IN_PLAN, "messages": messages, "response_format": response_format, **fields}
    return message_of(alice.post(json=body))


@STREAM
@EACH_WIRE
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "loose"])
def test_an_answer_follows_the_schema(
    alice: Customer, model: str, stream: bool, strict: bool
) -> None:
    message = asked(alice, form(strict=strict), model=model, stream=stream)
    assert json.loads(message["content"]) == {"city": "Paris"}
    assert (message["refusal"], "tool_calls" in message) == (None, False)


@STREAM
@EACH_WIRE
def test_an_answer_is_any_json_object(alice: Customer, model: str, stream: bool) -> None:
    question = "Where do I live? Answer in JSON."
    message = asked(alice, {"type": "json_object"}, model=model, stream=stream, question=question)
    assert isinstance(json.loads(message["content"]), dict)


@EACH_WIRE
def test_it_ends_as_a_text_does(alice: Customer, model: str) -> None:
    body = {"model": model, "messages": [user(alice, QUESTION)], "response_format": form()}
    assert alice.post(json=body).json()["choices"][0]["finish_reason"] == "stop"
    last = chunks(alice.post(json={**body, "stream": True}))[-1]
    assert last["choices"][0]["finish_reason"] == "stop"


@pytest.fixture
def bob(committed: None, scripted: Scripted) -> Customer:
    """With a key for structured outputs, and a provider that does as it is told."""
    return scripted.new_customer(features=("structured_outputs",))


def decline(upstream: Upstream, *, stream: bool) -> None:
    """Let the provider decline, as OpenAI does."""
    words = ["I cannot ", "say that."]
    message = {"role": "assistant", "content": None, "refusal": "".join(words)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = json.dumps({"choices": [choice], "usage": usage()}).encode()
    pieces = [*[delta(refusal=word) for word in words], finish(usage=usage()), DONE]
    upstream.answer = Answer([*pieces]) if stream else Answer([whole], content_type=JSON)


@STREAM
def test_a_refusal_stands_in_a_field_of_its_own(
    bob: Customer, upstream: Upstream, stream: bool
) -> None:
    decline(upstream, stream=stream)
    named = {"Idempotency-Key": f"order {uuid4()}"}
    body = bob.body(response_format=form(), stream=stream)
    first, second = (bob.post(json=body, headers=named) for _ in range(2))
    for response in (first, second):
        message = message_of(response)
        assert (message["content"], message["refusal"]) == (None, "I cannot say that.")
    assert second.headers["idempotency-replayed"] == "true"
    assert len(bob.charges()) == 1
    assert bob.charge().tokens_out == usage()["completion_tokens"]


def test_text_is_the_form_of_an_answer_where_none_is_asked_for(alice: Customer) -> None:
    for response_format in (None, {"type": "text"}):
        assert asked(alice, response_format, steer={"text": "In Paris."})["content"] == "In Paris."


@EACH_WIRE
def test_tools_and_a_form_go_together(customer: NewCustomer, model: str) -> None:
    agent = customer(features=("tools", "structured_outputs"))
    question = "What is the weather in Paris?"
    fields = {"model": model, "tools": [WEATHER]}
    turn = asked(agent, form(strict=False), question=question, **fields)
    assert [each["function"]["name"] for each in turn["tool_calls"]] == ["get_weather"]


@STREAM
@EACH_WIRE
def test_it_costs_the_tokens_that_the_provider_counts(
    alice: Customer, model: str, stream: bool
) -> None:
    asked(alice, form(), model=model, stream=stream)
    witness = alice.provider_call()
    cost = alice.listed_cost(model, witness["prompt_tokens"], witness["completion_tokens"])
    assert alice.spent_of_plan(model) == cost > 0
    assert reconciliation.find_violations() == []


def test_a_model_that_follows_no_schema_is_refused_before_anything_is_held(
    alice: Customer,
) -> None:
    response = alice.chat(model="smollm2-135m", response_format=form())
    error = refusal(response, 400, "unsupported_parameter")
    assert error["param"] == "response_format"
    assert (alice.charges(), alice.provider_calls()) == ([], [])
