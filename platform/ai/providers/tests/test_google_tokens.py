"""The access token of a service account: exchanged once, renewed in time."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest

from ai.providers.errors import ProviderUnavailable, UpstreamError
from ai.providers.google_tokens import AccessTokens, read_service_account
from common.http import UpstreamClient
from common.tests.upstream import Answer, Upstream
from simulator.process import RunningSimulator

from .media import answer


async def used(tokens: AccessTokens, seconds: float = 5.0) -> str:
    """The bearer that a call gets."""

    async def call(headers: Mapping[str, str]) -> str:
        return headers["Authorization"].removeprefix("Bearer ")

    return await tokens.call(call, seconds=seconds)


def issue(value: str = "a-token", expires_in: object = 3600) -> Answer:
    return answer({"access_token": value, "expires_in": expires_in, "token_type": "Bearer"})


@pytest.fixture
def account(simulator: RunningSimulator, upstream: Upstream) -> dict[str, str]:
    return simulator.service_account() | {"token_uri": f"{upstream.url}/token"}


@pytest.fixture
def tokens(account: dict[str, str], client: UpstreamClient) -> AccessTokens:
    return AccessTokens(json.dumps(account), client)


async def test_a_signed_assertion_is_exchanged(
    upstream: Upstream, account: dict[str, str], tokens: AccessTokens
) -> None:
    upstream.answer = issue()
    assert await used(tokens) == "a-token"
    (call,) = upstream.calls
    assert call.headers["content-type"] == "application/x-www-form-urlencoded"
    fields = {name: value[0] for name, value in parse_qs(call.body.decode()).items()}
    assert fields["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    claims = jwt.decode(fields["assertion"], options={"verify_signature": False})
    assert claims["iss"] == account["client_email"]
    assert claims["aud"] == account["token_uri"]
    assert claims["exp"] - claims["iat"] == 3600


async def test_one_token_serves_many_calls(upstream: Upstream, tokens: AccessTokens) -> None:
    upstream.answer = issue()
    assert set(await asyncio.gather(*(used(tokens) for _ in range(10)))) == {"a-token"}
    assert len(upstream.calls) == 1


async def test_a_token_is_renewed_before_it_ends(upstream: Upstream, tokens: AccessTokens) -> None:
    upstream.answer = issue("old", expires_in=299)
    assert await used(tokens) == "old"
    upstream.answer = issue("new")
    assert await used(tokens) == "new"


@pytest.mark.parametrize(
    "refusal",
    [
        answer({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400),
        answer({"error": "invalid_client"}, 401),
        answer({}, 404),
    ],
)
async def test_an_account_that_google_refuses_is_our_fault(
    upstream: Upstream, tokens: AccessTokens, refusal: Answer
) -> None:
    upstream.answer = refusal
    with pytest.raises(ProviderUnavailable) as failure:
        await used(tokens)
    assert failure.value.fault == "key"


@pytest.mark.parametrize(
    "failing",
    [answer({}, 503), answer({}, 500), answer({}), issue(expires_in="soon"), Answer(delay=30.0)],
)
async def test_a_token_that_does_not_come_may_be_asked_for_again(
    upstream: Upstream, tokens: AccessTokens, failing: Answer
) -> None:
    """Nothing was ordered yet."""
    upstream.answer = failing
    with pytest.raises(UpstreamError) as failure:
        await used(tokens, seconds=0.5)
    assert failure.value.retryable


async def test_only_a_refused_token_makes_a_second_call(
    upstream: Upstream, tokens: AccessTokens
) -> None:
    upstream.answer = issue()
    calls = []

    async def refused(headers: Mapping[str, str]) -> None:
        calls.append(headers)
        error = ProviderUnavailable("key")
        error.status = 403
        raise error

    with pytest.raises(ProviderUnavailable):
        await tokens.call(refused, seconds=5.0)
    assert len(calls) == 1


async def test_the_simulator_s_key_is_the_token(client: UpstreamClient) -> None:
    assert await used(AccessTokens("simulated", client)) == "simulated"


@pytest.mark.parametrize("change", [{"private_key": "no key"}, {"private_key": ""}])
async def test_a_key_that_cannot_sign_is_our_fault(
    account: dict[str, str], client: UpstreamClient, change: dict[str, str]
) -> None:
    with pytest.raises(ProviderUnavailable):
        await used(AccessTokens(json.dumps(account | change), client))


@pytest.mark.parametrize("key", ["", "AIza-a-key", "{", "{}", "bm8ganNvbg==", '{"type": 1}', "é"])
async def test_what_is_no_service_account_calls_nobody(client: UpstreamClient, key: str) -> None:
    assert read_service_account(key) is None
    with pytest.raises(ProviderUnavailable):
        await used(AccessTokens(key, client))


@pytest.mark.parametrize("encode", [str.encode, lambda text: text])
def test_a_key_file_is_read_in_json_and_in_base64(account: dict[str, str], encode: Any) -> None:
    text = encode(json.dumps(account))
    key = base64.encodebytes(text).decode() if isinstance(text, bytes) else text
    found = read_service_account(key)
    assert found is not None
    assert found.client_email == account["client_email"]
    assert found.private_key == account["private_key"]
