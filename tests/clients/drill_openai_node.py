"""The unmodified openai-node against the running service."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from common.money import NUSD_PER_USD
from publicapi.tests.v1.customer import Customer
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client

pytestmark = node_client("openai_node", "openai-node")

Node = Callable[[str], Any]


@pytest.fixture
def node(run: Run, alice: Customer) -> Node:
    """Runs one case of `openai.mjs` as alice, and returns what it printed."""

    def node(case: str) -> Any:
        program = PROGRAMS / "openai_node" / "openai.mjs"
        return json.loads(run("node", program, case, MARKER=alice.marker))

    return node


def test_a_whole_answer_comes_with_the_tokens_that_were_billed(node: Node, alice: Customer) -> None:
    answer = node("answer")
    assert len(answer["text"].split()) == 7
    assert answer["finish_reason"] == "stop"
    charge = alice.charge()
    assert answer["id"] == charge.request_id
    assert answer["usage"]["completion_tokens"] == charge.tokens_out == 7
    assert answer["usage"]["prompt_tokens"] == charge.tokens_in


def test_a_stream_ends_with_its_reason_and_its_usage(node: Node) -> None:
    stream = node("stream")
    assert len(stream["text"].split()) == 7
    assert stream["finish_reason"] == "stop"
    assert stream["usage"]["completion_tokens"] == 7
    assert stream["earlier_usages"] == 0


def test_the_stream_helper_puts_the_answer_together(node: Node) -> None:
    answer = node("streamHelper")
    assert len(answer["text"].split()) == 7
    assert answer["whole"] == answer["text"]
    assert answer["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] == 7


def test_a_failure_in_the_middle_of_a_stream_is_thrown_after_what_came(node: Node) -> None:
    broken = node("brokenStream")
    assert len(broken["text"].split()) == 3
    assert broken["code"] == "upstream_error"


def test_texts_are_embedded(node: Node, alice: Customer) -> None:
    embeddings = node("embeddings")
    cats, dogs = embeddings["byDefault"]
    assert len(cats) == len(dogs) == 1536
    assert cats != dogs
    assert embeddings["floats"][0] == pytest.approx(cats, abs=1e-7)
    [tokens] = {charge.tokens_in for charge in alice.charges()}
    assert embeddings["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}


def test_a_picture_is_made_and_can_be_fetched_without_a_key(node: Node, alice: Customer) -> None:
    image = node("image")
    assert image["type"] == "image/png"
    charge = alice.charge()
    assert round(image["billed_usd"] * NUSD_PER_USD) == charge.charge_plan + charge.charge_balance


def test_models_are_listed_and_retrieved(node: Node) -> None:
    models = node("models")
    assert "gpt-6-luna" in models["ids"]
    assert models["retrieved"]["id"] == "gpt-6-luna"
    assert models["retrieved"]["object"] == "model"


def test_a_failed_call_has_a_class_a_status_a_code_and_a_request_id(node: Node) -> None:
    errors = node("errors")
    assert {error["code"]: (error["kind"], error["status"]) for error in errors.values()} == {
        "invalid_messages": ("BadRequestError", 400),
        "invalid_api_key": ("AuthenticationError", 401),
        "model_not_found": ("NotFoundError", 404),
        "upstream_error": ("InternalServerError", 502),
        "provider_unavailable": ("InternalServerError", 503),
    }
    assert [error["code"] for error in errors.values()] == list(errors)
    assert all(error["requestID"].startswith("req_") for error in errors.values())
