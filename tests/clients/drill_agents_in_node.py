"""The unmodified openai-node and Vercel AI SDK let models call tools and answer in forms."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client

openai_node = node_client("openai_node", "openai-node")
ai_sdk = node_client("ai_sdk", "The Vercel AI SDK")

Node = Callable[..., Any]

each_wire = pytest.mark.parametrize("model", ["gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash"])
each_provider = pytest.mark.parametrize("provider", ["compatible", "openai"])

TEMPERATURES = "What is the temperature in Paris and Berlin?"
RESULTS = [{"city": "Paris", "celsius": 21}, {"city": "Berlin", "celsius": 17}]
HOUSE = 'I live in a house in "Paris". Its "kitchen" has 2 windows, and its street is "Rue Cler".'
HOME = {
    "city": "Paris",
    "kind": "house",
    "rooms": [{"name": "kitchen", "windows": 2}],
    "street": "Rue Cler",
}


@pytest.fixture
def openai(run: Run, agent: Customer) -> Node:
    """Runs a case of openai-node's program with a model and a question: what it printed."""

    def openai(case: str, model: str, question: str, **steering: Any) -> Any:
        program = PROGRAMS / "openai_node" / "agents.mjs"
        return json.loads(run("node", program, case, model, agent.prompt(question, **steering)))

    return openai


@pytest.fixture
def sdk(run: Run, agent: Customer) -> Node:
    """The same for the AI SDK's, by one of its providers."""

    def sdk(provider: str, case: str, model: str, question: str) -> Any:
        program = PROGRAMS / "ai_sdk" / "agents.mjs"
        return json.loads(run("node", program, provider, case, model, agent.prompt(question)))

    return sdk


def assert_told(answer: str, tool: str) -> None:
    """The answer quotes each result."""
    assert [json.loads(said) for said in re.findall(f"{tool} says: (.*)", answer)] == RESULTS


@openai_node
@each_wire
def test_openai_node_runs_the_tools_that_the_model_calls(
    openai: Node, agent: Customer, model: str
) -> None:
    seen = openai("tools", model, TEMPERATURES)
    assert_told(seen["answer"], "get_temperature")
    assert seen["called"] == ["Paris", "Berlin"]
    assert seen["roles"] == ["user", "assistant", "tool", "tool", "assistant"]
    charges = agent.charges()
    assert len(charges) == 2
    assert seen["usage"]["completion_tokens"] == sum(charge.tokens_out for charge in charges)
    assert seen["usage"]["prompt_tokens"] == sum(charge.tokens_in for charge in charges)


@openai_node
@each_wire
def test_openai_node_runs_the_tools_of_a_stream(openai: Node, model: str) -> None:
    seen = openai("streamedTools", model, TEMPERATURES)
    assert_told(seen["answer"], "get_temperature")
    assert seen["called"] == ["Paris", "Berlin"]
    assert seen["results"] == RESULTS
    assert seen["streamed"].endswith(seen["answer"])


@openai_node
@each_wire
def test_openai_node_parses_the_arguments_of_a_tool_that_has_to_be_called(
    openai: Node, model: str
) -> None:
    seen = openai("parsedTool", model, TEMPERATURES)
    assert seen["parsed"] == [{"city": "Paris"}, {"city": "Berlin"}]
    assert seen["finish_reason"] == "tool_calls"


@openai_node
@each_wire
def test_openai_node_parses_an_answer_by_a_schema_of_zod(openai: Node, model: str) -> None:
    seen = openai("form", model, HOUSE)
    assert seen == {"parsed": HOME, "refusal": None, "finish_reason": "stop"}


@openai_node
@each_wire
def test_openai_node_parses_a_streamed_answer_by_a_schema_of_zod(openai: Node, model: str) -> None:
    seen = openai("streamedForm", model, HOUSE)
    assert seen["parsed"] == HOME
    assert seen["finish_reason"] == "stop"
    assert seen["deltas"] > 1


@openai_node
def test_openai_node_tells_a_refusal_from_an_answer(openai: Node) -> None:
    seen = openai("form", "gpt-6-luna", HOUSE, refusal=True, text="I cannot say that.")
    assert seen == {"parsed": None, "refusal": "I cannot say that.", "finish_reason": "stop"}


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_runs_the_tools_that_the_model_calls(
    sdk: Node, agent: Customer, provider: str, model: str
) -> None:
    seen = sdk(provider, "tools", model, TEMPERATURES)
    assert_told(seen["text"], "getTemperature")
    assert seen["calls"] == [["Paris", "Berlin"], []]
    assert seen["results"] == [[21, 17], []]
    assert len(agent.charges()) == 2
    assert seen["totalUsage"]["totalTokens"] == sum(
        charge.tokens_in + charge.tokens_out for charge in agent.charges()
    )


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_runs_the_tools_of_a_stream(sdk: Node, provider: str, model: str) -> None:
    seen = sdk(provider, "streamedTools", model, TEMPERATURES)
    assert_told(seen["text"], "getTemperature")
    assert seen["calls"] == [["Paris", "Berlin"], []]
    assert seen["results"] == [[21, 17], []]


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_makes_an_object(sdk: Node, provider: str, model: str) -> None:
    seen = sdk(provider, "object", model, HOUSE)
    assert seen == {"object": HOME, "finishReason": "stop"}


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_shows_an_object_as_it_grows(sdk: Node, provider: str, model: str) -> None:
    seen = sdk(provider, "streamedObject", model, HOUSE)
    assert seen["object"] == HOME
    assert seen["states"] > 1


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_makes_an_object_of_what_tools_say(sdk: Node, provider: str, model: str) -> None:
    seen = sdk(provider, "toolsThenObject", model, "What is the temperature in Paris?")
    assert seen == {"object": {"city": "Paris", "celsius": 21}, "calls": [["Paris"], []]}


@ai_sdk
@each_provider
@each_wire
def test_the_ai_sdk_shows_a_picture(sdk: Node, tmp_path: Path, provider: str, model: str) -> None:
    Image.new("RGB", (64, 48), "blue").save(tmp_path / "picture.png")
    seen = sdk(provider, "picture", model, "What is this?")
    assert seen == {"text": "The picture is 64 x 48 pixels and mostly blue."}
