"""The identity provider, as a stranger's library sees it."""

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import httpx
import jwt
import pytest

from simulator import process
from simulator.identity import CLIENT_ID, ISSUER
from simulator.process import RunningSimulator

# Where a web app on this machine would take the token.
BACK = "http://localhost:3000/signed-in?from=here"


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    """One of its own: its keys change here."""
    with process.running() as running:
        yield running


def claims_of(simulator: RunningSimulator, token: str, audience: str = CLIENT_ID) -> dict[str, Any]:
    """The claims of a token that is found sound. Raises jwt.PyJWTError."""
    key = jwt.PyJWKClient(simulator.jwks_url).get_signing_key_from_jwt(token)
    return jwt.decode(token, key, algorithms=["RS256"], audience=audience, issuer=ISSUER)


def authorize(simulator: RunningSimulator, **fields: str) -> httpx.Response:
    return httpx.post(f"{simulator.url}/identity/authorize", data=fields)


def test_its_tokens_are_sound(simulator: RunningSimulator) -> None:
    claims = claims_of(simulator, simulator.id_token())
    assert claims["email"] == "alice@example.com"
    assert claims["email_verified"] is True
    assert claims["name"] == "Alice"
    assert claims["azp"] == CLIENT_ID
    assert claims["sub"].isdecimal()
    assert claims["exp"] - claims["iat"] == 3600
    assert abs(claims["iat"] - time.time()) < 5


def test_a_subject_belongs_to_an_address(simulator: RunningSimulator) -> None:
    def subject(email: str) -> Any:
        return claims_of(simulator, simulator.id_token(claims={"email": email}))["sub"]

    assert subject("bob@example.com") == subject("bob@example.com")
    assert subject("bob@example.com") != subject("alice@example.com")


def test_claims_can_be_replaced_and_left_out(simulator: RunningSimulator) -> None:
    token = simulator.id_token(claims={"email_verified": False, "name": None, "hd": "example.com"})
    claims = claims_of(simulator, token)
    assert claims["email_verified"] is False
    assert claims["hd"] == "example.com"
    assert "name" not in claims


def test_the_keys_can_be_kept_for_a_while(simulator: RunningSimulator) -> None:
    answer = httpx.get(simulator.jwks_url)
    assert answer.headers["cache-control"].startswith("public, max-age=")
    for key in answer.json()["keys"]:
        assert key.keys() == {"kty", "use", "alg", "kid", "n", "e"}
        assert jwt.PyJWK(key).key.key_size == 2048


def test_a_key_stays_for_one_rotation(simulator: RunningSimulator) -> None:
    before = simulator.id_token()
    simulator.rotate_keys()
    assert len(httpx.get(simulator.jwks_url).json()["keys"]) == 2
    assert claims_of(simulator, before)
    after = simulator.id_token()
    kids = {jwt.get_unverified_header(token)["kid"] for token in (before, after)}
    assert len(kids) == 2
    assert claims_of(simulator, simulator.id_token(key="previous"))
    simulator.rotate_keys()
    assert claims_of(simulator, after)
    with pytest.raises(jwt.PyJWKClientError, match="Unable to find a signing key"):
        claims_of(simulator, before)


@pytest.mark.parametrize("option", [{"key": "foreign"}, {"header": {"alg": "none"}}])
def test_it_makes_tokens_that_must_be_refused(
    simulator: RunningSimulator, option: dict[str, Any]
) -> None:
    with pytest.raises(jwt.InvalidTokenError):
        claims_of(simulator, simulator.id_token(**option))


def test_it_signs_with_the_public_key_as_a_shared_secret(simulator: RunningSimulator) -> None:
    token = simulator.id_token(header={"alg": "HS256"})
    with pytest.raises(jwt.InvalidAlgorithmError):
        claims_of(simulator, token)
    assert len(token.split(".")[2]) == 43


def test_a_user_is_sent_back_to_a_web_app_with_a_token(simulator: RunningSimulator) -> None:
    answer = authorize(
        simulator,
        email="bob@example.com",
        name="Bob",
        client_id="web",
        redirect_uri=BACK,
        state="a&b",
        nonce="n",
    )
    assert answer.status_code == 303
    target, _, fragment = answer.headers["location"].partition("#")
    assert target == BACK
    parameters = parse_qs(fragment)
    assert parameters["state"] == ["a&b"]
    claims = claims_of(simulator, parameters["id_token"][0], audience="web")
    assert (claims["email"], claims["name"]) == ("bob@example.com", "Bob")
    assert (claims["azp"], claims["nonce"]) == ("web", "n")


def test_without_a_web_app_the_token_is_shown(simulator: RunningSimulator) -> None:
    page = authorize(simulator, email="bob@example.com").text
    _, _, rest = page.partition("readonly>")
    token, _, _ = rest.partition("<")
    assert claims_of(simulator, token)["email"] == "bob@example.com"


def test_the_form_passes_on_what_the_web_app_said(simulator: RunningSimulator) -> None:
    query = {"redirect_uri": BACK, "state": '"><script>', "scope": "openid"}
    page = httpx.get(f"{simulator.url}/identity/authorize", params=query)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f'name="redirect_uri" value="{BACK}"' in page.text
    assert 'value="&quot;&gt;&lt;script&gt;"' in page.text
    assert "<script>" not in page.text


@pytest.mark.parametrize(
    "target",
    [
        "https://example.com/",
        "//example.com",
        "javascript:alert(1)",
        "http://[::1",
        "http://localhost/\r\nx: y",
        "http://localhost/é",
        "http://localhost@example.com/",
        "http://example.com\\@localhost/",
    ],
)
def test_a_token_stays_on_this_machine(simulator: RunningSimulator, target: str) -> None:
    answer = authorize(simulator, email="bob@example.com", redirect_uri=target)
    assert answer.status_code == 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "body",
    ["x", "[]", '{"claims": 5}', '{"key": "mine"}', '{"more": 1}', '{"header": {"alg": "ES256"}}'],
)
def test_a_wish_that_is_not_understood_is_refused(simulator: RunningSimulator, body: str) -> None:
    answer = httpx.post(f"{simulator.url}/identity/token", content=body)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error", "error_description"}


def test_unknown_paths_are_refused_as_oauth_does(simulator: RunningSimulator) -> None:
    assert httpx.get(f"{simulator.url}/identity/nothing").status_code == 404
    answer = httpx.post(simulator.jwks_url, content=json.dumps({}))
    assert (answer.status_code, answer.json()["error"]) == (405, "invalid_request")
