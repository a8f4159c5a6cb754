"""Slips of people who set up a client: what is meant works, or the error names the slip."""

import httpx
import pytest

from accounts import keys
from publicapi.tests.v1.customer import Customer
from publicapi.tests.v1.errors import refusal

CHAT = "/v1/chat/completions"


def sentence(alice: Customer, **headers: str) -> str:
    """What a call without a usable key is told."""
    response = alice.http.post(CHAT, json=alice.body(), headers=headers)
    code = "missing_api_key" if "missing" in response.json()["error"]["code"] else "invalid_api_key"
    text: str = refusal(response, 401, code, keyed=False)["message"]
    return text


# --- The key --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x-api-key", "X-API-Key"])
def test_a_key_in_x_api_key_is_taken(alice: Customer, name: str) -> None:
    response = alice.http.post(CHAT, json=alice.body(), headers={name: alice.raw_key})
    assert response.status_code == 200
    assert response.headers["x-ratelimit-limit"] == "120"


def test_a_bearer_token_wins_over_x_api_key(alice: Customer) -> None:
    headers = {"Authorization": f"Bearer {alice.raw_key}", "x-api-key": "mk_old"}
    assert alice.http.post(CHAT, json=alice.body(), headers=headers).status_code == 200


def test_an_unknown_key_in_x_api_key_is_invalid(alice: Customer) -> None:
    assert "begin with mk_" in sentence(alice, **{"x-api-key": "sk-another"})


def test_a_key_that_was_revoked_or_never_was_is_told_so(alice: Customer) -> None:
    told = sentence(alice, Authorization=f"Bearer {keys.generate()}")
    alice.revoke()
    assert sentence(alice, Authorization=f"Bearer {alice.raw_key}") == told
    assert "unknown or revoked" in told


def test_a_key_without_bearer_is_told_so(alice: Customer) -> None:
    assert "word Bearer is missing" in sentence(alice, Authorization=alice.raw_key)


def test_a_key_after_two_bearers_is_told_so(alice: Customer) -> None:
    told = sentence(alice, Authorization=f"Bearer Bearer {alice.raw_key}")
    assert "says Bearer twice" in told


@pytest.mark.parametrize("quoted", ['"{}"', "'{}'", "`{}`", "<{}>"])
def test_a_key_in_quotes_is_told_so(alice: Customer, quoted: str) -> None:
    told = sentence(alice, Authorization=f"Bearer {quoted.format(alice.raw_key)}")
    assert "quotes or brackets" in told


def test_a_key_that_is_cut_off_is_told_so(alice: Customer) -> None:
    assert "Copy it whole" in sentence(alice, Authorization=f"Bearer {alice.raw_key[:-1]}")


def test_no_sentence_repeats_the_key(alice: Customer) -> None:
    for sent in (alice.raw_key, f"Bearer Bearer {alice.raw_key}", f'Bearer "{alice.raw_key}"'):
        assert alice.raw_key not in sentence(alice, Authorization=sent)


# --- The base address -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "meant"),
    [
        ("POST", "/chat/completions", CHAT),
        ("POST", "/v1/v1/chat/completions", CHAT),
        ("POST", "/openai/v1/chat/completions", CHAT),
        ("POST", "/v2/chat/completions", CHAT),
        ("POST", "/v1/chat/completions/chat/completions", CHAT),
        ("POST", "/embeddings", "/v1/embeddings"),
        ("POST", "/images/generations", "/v1/images/generations"),
        ("GET", "/models", "/v1/models"),
        ("GET", "/openai/models", "/v1/models"),
        ("GET", "/usage", "/v1/usage"),
        ("GET", "/v1/v1/models", "/v1/models"),
    ],
)
def test_a_wrong_base_address_is_told_the_right_one(
    alice: Customer, method: str, path: str, meant: str
) -> None:
    headers = {"Authorization": f"Bearer {alice.raw_key}"}
    response = alice.http.request(method, path, headers=headers)
    told = refusal(response, 404, "not_found", keyed=False)["message"]
    assert f"{meant}`" in told
    assert "`/v1`" in told


def test_a_page_of_another_origin_reads_it_too(http: httpx.Client) -> None:
    origin = {"Origin": "https://page.example.com", "Access-Control-Request-Method": "POST"}
    assert http.options("/chat/completions", headers=origin).status_code == 204
    response = http.post("/chat/completions", headers=origin)
    assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/v1/organization/usage", "/v1/fine_tuning/models"])
def test_another_endpoint_of_openai_is_no_wrong_base_address(http: httpx.Client, path: str) -> None:
    told = refusal(http.get(path), 404, "not_found", keyed=False)["message"]
    assert "base address" not in told


@pytest.mark.parametrize("path", ["/api/models", "/api/nowhere/models", "/admin/models"])
def test_paths_of_the_application_are_its_own(http: httpx.Client, path: str) -> None:
    assert "error" not in http.get(path).text.partition(":")[0]
