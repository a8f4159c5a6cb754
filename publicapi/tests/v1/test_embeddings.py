"""`POST /v1/embeddings`: a vector for each text, billed from the balance by the token."""

import base64
import math
import struct
from typing import Any

import pytest

from ai.providers.token_estimate import estimate_text
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import EMBEDDING, EMBEDDINGS, Customer
from publicapi.tests.v1.errors import refusal


def numbers(vector: str | list[float]) -> list[float]:
    """The numbers of a vector in either encoding."""
    if isinstance(vector, list):
        return vector
    data = base64.b64decode(vector, validate=True)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


# --- The answer ---------------------------------------------------------------------------------


def test_each_text_gets_a_vector_in_its_place(alice: Customer) -> None:
    answer = alice.embed("first", "second", "first").json()
    assert answer.keys() == {"object", "data", "model", "usage"}
    assert (answer["object"], answer["model"]) == ("list", EMBEDDING)
    assert [item["object"] for item in answer["data"]] == ["embedding"] * 4
    assert [item["index"] for item in answer["data"]] == [0, 1, 2, 3]
    vectors = [item["embedding"] for item in answer["data"]]
    assert vectors[1] == vectors[3] != vectors[2]


def test_one_text_alone_is_taken(alice: Customer) -> None:
    [item] = alice.embed(input=alice.prompt("Hello")).json()["data"]
    assert len(item["embedding"]) == 1536
    assert all(isinstance(number, float) for number in item["embedding"])
    assert math.isclose(math.hypot(*item["embedding"]), 1, abs_tol=1e-5)


@pytest.mark.parametrize("fields", [{}, {"encoding_format": None}, {"encoding_format": "float"}])
def test_vectors_are_numbers_unless_base64_is_asked_for(
    alice: Customer, fields: dict[str, Any]
) -> None:
    as_base64 = alice.embed(encoding_format="base64").json()["data"][0]["embedding"]
    assert isinstance(as_base64, str)
    as_numbers = alice.embed(**fields).json()["data"][0]["embedding"]
    assert as_numbers == numbers(as_base64)


@pytest.mark.parametrize("encoding", ["float", "base64"])
@pytest.mark.parametrize("dimensions", [1, 256, 1535, 1536])
def test_shorter_vectors_have_length_one_too(
    alice: Customer, dimensions: int, encoding: str
) -> None:
    response = alice.embed(dimensions=dimensions, encoding_format=encoding)
    vector = numbers(response.json()["data"][0]["embedding"])
    assert len(vector) == dimensions
    assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)


def test_without_dimensions_the_vectors_are_the_models_own(alice: Customer) -> None:
    [item] = alice.embed(dimensions=None).json()["data"]
    assert len(item["embedding"]) == 1536


def test_fields_without_a_meaning_here_are_taken(alice: Customer) -> None:
    response = alice.embed(user="alice", input_type="query", truncate=["?"], x={"y": None})
    assert response.status_code == 200


# --- The money ----------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["max", "advanced", "enterprise"])
def test_the_balance_pays_twice_whatever_the_plan(customer: NewCustomer, plan: str) -> None:
    alice = customer(plan=plan)
    usage = alice.embed("some", "more words").json()["usage"]
    call = alice.provider_call()
    assert call["kind"] == "embeddings"
    assert usage == {"prompt_tokens": call["prompt_tokens"], "total_tokens": call["prompt_tokens"]}
    cost = alice.listed_cost(EMBEDDING, call["prompt_tokens"], 0)
    assert alice.spent_of_balance() == 2 * cost > 0
    assert alice.spent_of_plan(EMBEDDING) == 0
    charge = alice.charge()
    assert (charge.status, charge.kind, charge.tokens_in) == (
        "settled",
        "embeddings",
        call["prompt_tokens"],
    )


def test_an_empty_balance_is_refused_before_the_provider_is_asked(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0)
    refusal(alice.embed(), 402, "insufficient_balance")
    assert alice.provider_calls() == []


def test_what_is_not_covered_is_refused_before_the_provider_is_asked(
    customer: NewCustomer,
) -> None:
    """256 texts of 12,000 characters are at most 3.1 million tokens: more than 6 USD."""
    alice = customer(balance_usd=6)
    refusal(alice.embed(*["a" * 12_000] * 255), 402, "insufficient_for_request")
    assert alice.provider_calls() == []
    alice.assert_nothing_billed()


def test_without_a_usage_of_the_providers_the_texts_are_estimated(alice: Customer) -> None:
    """Four words and a full stop, 20 times, and the marked text before them."""
    response = alice.embed("The sea is deep. " * 20, steer={"no_usage": True})
    tokens = response.json()["usage"]["prompt_tokens"]
    assert tokens == 20 * 5 + estimate_text(alice.prompt(no_usage=True))
    assert alice.spent_of_balance() == 2 * alice.listed_cost(EMBEDDING, tokens, 0)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 429},
        {"drop": True},
        {"bad_json": True},
        {"truncate": True},
        {"error_in_200": True},
    ],
    ids=lambda fault: next(iter(fault)),
)
def test_a_provider_that_fails_costs_nothing(alice: Customer, fault: dict[str, Any]) -> None:
    refusal(alice.embed("some", "texts", steer=fault), 502, "upstream_error")
    alice.assert_nothing_billed()


def test_a_client_that_hangs_up_pays_for_the_vectors(alice: Customer) -> None:
    texts = [alice.prompt(ttft_ms=600), "more"]
    alice.hang_up_and_wait(EMBEDDINGS, {"model": EMBEDDING, "input": texts})
    tokens = alice.provider_call()["prompt_tokens"]
    assert alice.provider_call()["outcome"] == "completed"
    assert alice.spent_of_balance() == 2 * alice.listed_cost(EMBEDDING, tokens, 0)


def test_the_same_request_is_carried_out_once(alice: Customer) -> None:
    body = {"model": EMBEDDING, "input": [alice.prompt(), "more"], "encoding_format": "base64"}
    named = {"Idempotency-Key": alice.marker}
    first, second = (alice.post(EMBEDDINGS, json=body, headers=named) for _ in range(2))
    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len(alice.provider_calls()) == len(alice.charges()) == 1
