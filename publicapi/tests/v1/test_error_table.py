"""The published table of errors, row by row: each with every endpoint that it concerns, and nothing
billed. What else is true of one error is in the tests of its endpoint.
"""

from collections.abc import Callable

import httpx
import pytest

from accounts import keys
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import (
    BALANCE_ONLY,
    CHAT,
    EMBEDDING,
    EMBEDDINGS,
    IMAGE,
    IMAGES,
    IN_PLAN,
    NOT_CONFIGURED,
    Customer,
)
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.rate_window import use_up

Ask = Callable[..., httpx.Response]

SPENDING: dict[str, Ask] = {
    "chat": Customer.chat,
    "embeddings": Customer.embed,
    "images": Customer.draw,
}
READING: dict[str, Ask] = {
    "models": lambda customer: customer.get("/v1/models"),
    "model": lambda customer: customer.get(f"/v1/models/{IN_PLAN}"),
    "usage": lambda customer: customer.get("/v1/usage"),
}


def with_each(asks: dict[str, Ask]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ask", asks.values(), ids=asks.keys())


each_call = with_each(SPENDING)
each_endpoint = with_each({**SPENDING, **READING})


def assert_free_of_charge(customer: Customer) -> None:
    """Nothing was billed, no hold was placed, and no provider was asked."""
    customer.assert_nothing_billed()
    assert (customer.charges(), customer.provider_calls()) == ([], [])


# --- 400 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [CHAT, EMBEDDINGS, IMAGES])
def test_400_invalid_body_a_malformed_body(alice: Customer, path: str) -> None:
    """400 | invalid_body | malformed body"""
    refusal(alice.post(path, content=b'{"model": '), 400, "invalid_body")
    assert_free_of_charge(alice)


def test_400_invalid_messages_no_user_text(alice: Customer) -> None:
    """400 | invalid_messages | no user text"""
    system = {"role": "system", "content": "Be brief."}
    refusal(alice.chat(messages=[system]), 400, "invalid_messages")
    assert_free_of_charge(alice)


@pytest.mark.parametrize("texts", [[], [""], [5], ["a"] * 257], ids=["none", "empty", "5", "257"])
def test_400_invalid_input_invalid_embedding_input(alice: Customer, texts: list[object]) -> None:
    """400 | invalid_input | invalid embedding input"""
    response = alice.post(EMBEDDINGS, json={"model": EMBEDDING, "input": texts})
    refusal(response, 400, "invalid_input")
    assert_free_of_charge(alice)


@with_each(
    {
        "chat": lambda alice: alice.chat(messages=[{"role": "user", "content": "a" * 400_001}]),
        "embeddings": lambda alice: alice.embed("a" * 12_001),
        "images": lambda alice: alice.draw(prompt="a" * 4_001),
    }
)
def test_400_input_too_long(alice: Customer, ask: Ask) -> None:
    """400 | input_too_long | 400,001 characters, a text of 12,001, a prompt of 4,001"""
    refusal(ask(alice), 400, "input_too_long")
    assert_free_of_charge(alice)


def test_400_unsupported_encoding_of_embeddings(alice: Customer) -> None:
    """400 | unsupported_encoding | unsupported encoding format"""
    refusal(alice.embed(encoding_format="hex"), 400, "unsupported_encoding")
    assert_free_of_charge(alice)


@pytest.mark.parametrize(
    "query", ["from=2026-02-30", "from=2026-05-02&to=2026-05-01", "from=2026-01-01&to=2026-04-03"]
)
def test_400_invalid_range_of_a_usage_report(alice: Customer, query: str) -> None:
    """400 | invalid_range | invalid usage date range"""
    refusal(alice.get(f"/v1/usage?{query}"), 400, "invalid_range")


# --- 401 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", CHAT), ("POST", EMBEDDINGS), ("POST", IMAGES), ("GET", "/v1/usage")],
)
def test_401_missing_api_key(http: httpx.Client, method: str, path: str) -> None:
    """401 | missing_api_key | no bearer key"""
    refusal(http.request(method, path), 401, "missing_api_key", keyed=False)


@each_endpoint
def test_401_invalid_api_key_unknown(alice: Customer, ask: Ask) -> None:
    """401 | invalid_api_key | unknown key"""
    alice.raw_key = keys.generate()
    refusal(ask(alice), 401, "invalid_api_key", keyed=False)
    assert_free_of_charge(alice)


@each_endpoint
def test_401_invalid_api_key_revoked(alice: Customer, ask: Ask) -> None:
    """401 | invalid_api_key | revoked key"""
    alice.revoke()
    refusal(ask(alice), 401, "invalid_api_key", keyed=False)
    assert_free_of_charge(alice)


# --- 402 ------------------------------------------------------------------------------------------


def test_402_insufficient_for_request(customer: NewCustomer) -> None:
    """402 | insufficient_for_request | allowance plus balance cannot cover the request"""
    alice = customer(balance_usd=1)
    response = alice.chat(model=BALANCE_ONLY, max_tokens=100_000)
    error = refusal(response, 402, "insufficient_for_request")
    assert error["needed_usd"] > error["afford_usd"] > 0
    assert_free_of_charge(alice)


@each_call
def test_402_insufficient_balance(customer: NewCustomer, ask: Ask) -> None:
    """402 | insufficient_balance | allowance plus balance cannot cover the request"""
    alice = customer(plan="enterprise", balance_usd=0)
    refusal(ask(alice), 402, "insufficient_balance")
    assert_free_of_charge(alice)


@each_call
def test_402_spend_cap_reached(customer: NewCustomer, ask: Ask) -> None:
    """402 | spend_cap_reached | the key's monthly cap is reached"""
    alice = customer(cap=1)
    assert ask(alice).status_code == 200
    billed = alice.charge()

    response = ask(alice)

    refusal(response, 402, "spend_cap_reached")
    assert response.headers["x-should-retry"] == "false"
    assert alice.charge() == billed
    assert all(read(alice).status_code == 200 for read in READING.values())


# --- 403 ------------------------------------------------------------------------------------------


@each_endpoint
def test_403_api_access_required(customer: NewCustomer, ask: Ask) -> None:
    """403 | api_access_required | plan has no API access"""
    alice = customer(plan="pro")
    refusal(ask(alice), 403, "api_access_required")
    assert_free_of_charge(alice)


@each_call
def test_403_model_not_allowed(customer: NewCustomer, ask: Ask) -> None:
    """403 | model_not_allowed | model not on the key's allow-list"""
    alice = customer(models=(BALANCE_ONLY,))
    refusal(ask(alice), 403, "model_not_allowed")
    assert_free_of_charge(alice)


@each_endpoint
def test_403_account_disabled(alice: Customer, ask: Ask) -> None:
    """403 | account_disabled | account suspended"""
    alice.suspend()
    refusal(ask(alice), 403, "account_disabled")
    assert_free_of_charge(alice)


# --- 404 ------------------------------------------------------------------------------------------


@each_call
@pytest.mark.parametrize(
    ("model", "said"),
    [("no-such-model", "`no-such-model`"), ("dall-e-3", "`dall-e-3` was retired")],
)
def test_404_model_not_found(alice: Customer, ask: Ask, model: str, said: str) -> None:
    """404 | model_not_found | unknown or retired model"""
    for response in (ask(alice, model=model), alice.get(f"/v1/models/{model}")):
        assert said in refusal(response, 404, "model_not_found")["message"]
    assert_free_of_charge(alice)


@pytest.mark.parametrize(
    ("path", "model", "kind", "home"),
    [
        (CHAT, IMAGE, "an image model", IMAGES),
        (CHAT, EMBEDDING, "an embeddings model", EMBEDDINGS),
        (EMBEDDINGS, IN_PLAN, "a chat model", CHAT),
        (IMAGES, "gpt-4o-mini", "a chat model", CHAT),
        (IMAGES, EMBEDDING, "an embeddings model", EMBEDDINGS),
    ],
)
def test_404_model_not_found_at_another_kinds_endpoint(
    alice: Customer, path: str, model: str, kind: str, home: str
) -> None:
    """404 | model_not_found | a model of another modality is not called there"""
    texts = {"messages": [{"role": "user", "content": "a"}], "input": ["a"], "prompt": "a"}
    error = refusal(alice.post(path, json={"model": model, **texts}), 404, "model_not_found")
    assert error["message"] == f"`{model}` is {kind}: call it with `POST {home}`."
    assert_free_of_charge(alice)


def test_404_key_not_found(alice: Customer, customer: NewCustomer) -> None:
    """404 | key_not_found | key id not on this account"""
    bob = customer(name="bob")
    refusal(alice.get(f"/v1/usage?key={bob.key.pk}"), 404, "key_not_found")


# --- 422 ------------------------------------------------------------------------------------------


def test_422_a_spend_cap_finer_than_whole_cents(alice: Customer) -> None:
    """422 | (no code) | spend cap with finer than whole cents, by the application interface"""
    response = alice.manage("PATCH", f"/{alice.key.pk}", monthly_spend_cap_usd=10.005)
    assert response.status_code == 422
    assert "whole cents" in response.json()["detail"]
    assert alice.chat().status_code == 200


# --- 429 ------------------------------------------------------------------------------------------


@each_endpoint
def test_429_rate_limit_exceeded(alice: Customer, ask: Ask) -> None:
    """429 | rate_limit_exceeded | more than 120 requests per minute; `Retry-After` in seconds"""
    use_up(alice.key)
    response = ask(alice)
    refusal(response, 429, "rate_limit_exceeded")
    assert 1 <= int(response.headers["retry-after"]) <= 60
    assert response.headers["x-ratelimit-remaining"] == "0"
    assert_free_of_charge(alice)


# --- 502 and 503 ----------------------------------------------------------------------------------


@each_call
def test_502_upstream_error(alice: Customer, ask: Ask) -> None:
    """502 | upstream_error | provider failed before producing output; nothing billed"""
    response = ask(alice, steer={"fail": "before", "status": 500})
    error = refusal(response, 502, "upstream_error")
    assert "Nothing was billed" in error["message"]
    assert alice.provider_calls() != []
    alice.assert_nothing_billed()


@each_call
def test_502_upstream_error_where_the_provider_does_not_serve_us(alice: Customer, ask: Ask) -> None:
    """502 | upstream_error | provider failed before producing output, whatever the condition: its
    refusal of our key, too, is a failure of a call that was held for"""
    response = ask(alice, steer={"fail": "before", "status": 401})
    refusal(response, 502, "upstream_error")
    assert response.headers["x-should-retry"] == "false"
    alice.assert_nothing_billed()


def test_503_provider_unavailable_without_its_key(alice: Customer) -> None:
    """503 | provider_unavailable | the model's provider is not configured; nothing billed"""
    refusal(alice.chat(model=NOT_CONFIGURED), 503, "provider_unavailable")
    assert_free_of_charge(alice)
