"""What counts as an access token, and what does not."""

import base64
import hmac
import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import tokens
from accounts.models import User, UserSession
from conftest import Persona
from tests.chaos.calls import wait_for
from tests.personas import new_user

pytestmark = pytest.mark.django_db

URL = "/api/auth/me"
KEY = str(tokens._backends()[0].signing_key)
LEEWAY_SECONDS = 5


def get_me(authorization: str) -> Any:
    return APIClient().get(URL, HTTP_AUTHORIZATION=authorization)


def claims_of(persona: Persona, **changes: Any) -> dict[str, Any]:
    token = persona.signed_in.access_token
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    claims |= changes
    return {name: value for name, value in claims.items() if value is not None}


def signed(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, KEY, algorithm="HS256")


def part(document: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def now() -> int:
    return int(timezone.now().timestamp())


def signed_with_a_key_pair(alice: Persona) -> str:
    pair = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    return jwt.encode(claims_of(alice), pair, algorithm="RS256")


def by_hand(algorithm: str = "HS256", **changes: Any) -> Callable[[Persona], str]:
    """A token with our own signature that no library would make."""

    def token(alice: Persona) -> str:
        header = {"alg": algorithm, "typ": "JWT"}
        signing_input = f"{part(header)}.{part(claims_of(alice, **changes))}"
        digest = hmac.digest(KEY.encode(), signing_input.encode(), "sha256")
        return f"{signing_input}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"

    return token


def test_the_access_token_lives_for_one_hour(alice: Persona) -> None:
    claims = claims_of(alice)
    assert claims["exp"] - claims["iat"] == 3600
    assert claims.keys() == {"sub", "ver", "sid", "typ", "jti", "iat", "exp", "iss", "aud"}


def test_the_scheme_is_case_insensitive(alice: Persona) -> None:
    assert get_me(f"bearer {alice.signed_in.access_token}").status_code == 200


def test_a_token_signed_like_ours_is_accepted(alice: Persona) -> None:
    """The forgeries below fail for what they change, not for how they are made."""
    assert get_me(f"Bearer {signed(claims_of(alice))}").status_code == 200
    assert get_me(f"Bearer {by_hand()(alice)}").status_code == 200


FORGERIES: dict[str, Callable[[Persona], str]] = {
    "no algorithm": lambda alice: jwt.encode(claims_of(alice), "", algorithm="none"),
    "no signature": lambda alice: signed(claims_of(alice)).rpartition(".")[0] + ".",
    "another HMAC": lambda alice: jwt.encode(claims_of(alice), KEY * 2, algorithm="HS512"),
    "swapped algorithm": lambda alice: jwt.encode(claims_of(alice), KEY, algorithm="HS384"),
    "HS512 with our key": lambda alice: jwt.encode(claims_of(alice), KEY, algorithm="HS512"),
    "another family of algorithms": signed_with_a_key_pair,
    "our key as a public key": by_hand("RS256"),
    "no algorithm, in another case": by_hand("nOnE"),
    "a foreign key": lambda alice: jwt.encode(claims_of(alice), "f" * 64, algorithm="HS256"),
    "the secret key itself": lambda alice: jwt.encode(
        claims_of(alice), settings.SECRET_KEY, algorithm="HS256"
    ),
    "changed claims": lambda alice: ".".join(
        [
            signed(claims_of(alice)).split(".")[0],
            part(claims_of(alice, sub=str(uuid.uuid4()))),
            signed(claims_of(alice)).split(".")[2],
        ]
    ),
    "a refresh token": lambda alice: alice.signed_in.refresh_token,
    "a refresh token that says access": lambda alice: signed(
        jwt.decode(alice.signed_in.refresh_token, options={"verify_signature": False})
        | {"typ": "access", "aud": None}
    ),
    "a type that is a list": lambda alice: signed(claims_of(alice, typ=["access"])),
    "no type": lambda alice: signed(claims_of(alice, typ=None)),
    "wrong audience": lambda alice: signed(claims_of(alice, aud="elsewhere")),
    "no audience": lambda alice: signed(claims_of(alice, aud=None)),
    "wrong issuer": lambda alice: signed(claims_of(alice, iss="elsewhere")),
    "an issuer that is a number": by_hand(iss=5),
    "an audience that is an object": lambda alice: signed(claims_of(alice, aud={"a": 1})),
    "no issuer": lambda alice: signed(claims_of(alice, iss=None)),
    "expired": lambda alice: signed(claims_of(alice, exp=now() - 60)),
    "expiring at no time": lambda alice: signed(claims_of(alice, exp="tomorrow")),
    "never expiring": lambda alice: signed(claims_of(alice, exp=None)),
    "not yet valid": lambda alice: signed(claims_of(alice, nbf=now() + 600)),
    "issued in the future": lambda alice: signed(claims_of(alice, iat=now() + 600)),
    "issued at no time": lambda alice: signed(claims_of(alice, iat="yesterday")),
    "valid from no time": lambda alice: signed(claims_of(alice, nbf=[])),
    "a subject that is no id": lambda alice: signed(claims_of(alice, sub="alice")),
    "a subject that is a number": lambda alice: signed(claims_of(alice, sub=5)),
    "no subject": lambda alice: signed(claims_of(alice, sub=None)),
    "a subject that is a list": lambda alice: signed(claims_of(alice, sub=[str(alice.user.pk)])),
    "a subject with a NUL": lambda alice: signed(claims_of(alice, sub=f"{alice.user.pk}\0")),
    "an unknown subject": lambda alice: signed(claims_of(alice, sub=str(uuid.uuid4()))),
    "no version": lambda alice: signed(claims_of(alice, ver=None)),
    "another version": lambda alice: signed(claims_of(alice, ver=2)),
    "a version that is a text": lambda alice: signed(claims_of(alice, ver="one")),
    "a version beyond all numbers": lambda alice: signed(claims_of(alice, ver=1e308)),
    "a version of 5,000 digits": lambda alice: signed(claims_of(alice, ver="9" * 5_000)),
    "a version that is a list": lambda alice: signed(claims_of(alice, ver=[1])),
    "no session": lambda alice: signed(claims_of(alice, sid=None)),
    "an unknown session": lambda alice: signed(claims_of(alice, sid=str(uuid.uuid4()))),
    "somebody else's session": lambda alice: signed(
        claims_of(alice, sid=str(UserSession.objects.create(account=new_user("bob")).pk))
    ),
    "a session that is no id": lambda alice: signed(claims_of(alice, sid="current")),
    "a session that is a list": lambda alice: signed(claims_of(alice, sid=[])),
    "a key of its own": lambda alice: jwt.encode(
        claims_of(alice), "f" * 64, algorithm="HS256", headers={"jwk": {"kty": "oct", "k": "Zg"}}
    ),
    "a key id that is a path": lambda alice: jwt.encode(
        claims_of(alice), "f" * 64, algorithm="HS256", headers={"kid": "../../etc/hosts"}
    ),
    "a deep header": lambda alice: f"{part([[[[]]]])}.{part({})}.x",
    "a hostile header": lambda alice: (
        base64.urlsafe_b64encode(b"[" * 700).decode().rstrip("=") + ".e30.x"
    ),
    "an enormous header": lambda alice: part({"alg": "HS256", "x": "y" * 50_000}) + ".e30.x",
    "10 KB": lambda alice: signed(claims_of(alice, x="y" * 10_000)),
    "claims that are a list": lambda alice: ".".join(
        [signed(claims_of(alice)).split(".")[0], part([claims_of(alice)]), "x"]
    ),
    "not a token": lambda alice: "not-a-token",
    "two tokens": lambda alice: f"{alice.signed_in.access_token} {alice.signed_in.access_token}",
    "nothing": lambda alice: "",
    "text beyond ASCII": lambda alice: "tøken",
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_hostile_token_is_401(alice: Persona, forgery: str) -> None:
    response = get_me(f"Bearer {FORGERIES[forgery](alice)}")
    assert response.status_code == 401
    assert response.json().keys() == {"detail", "code"}


@pytest.mark.parametrize("authorization", ["Bearer", "Basic YTpi", "Bearer  ", "", "Token abc"])
def test_a_header_without_a_bearer_token_is_401(authorization: str) -> None:
    assert get_me(authorization).status_code == 401


def test_raising_the_token_version_ends_earlier_tokens(alice: Persona) -> None:
    User.objects.filter(pk=alice.user.pk).update(token_version=2)
    assert alice.client.get(URL).status_code == 401


def test_a_token_of_an_hour_ago_has_expired(alice: Persona) -> None:
    hour_ago = int((timezone.now() - timedelta(hours=1, seconds=30)).timestamp())
    token = signed(claims_of(alice, iat=hour_ago, exp=hour_ago + 3600))
    assert get_me(f"Bearer {token}").status_code == 401


def test_a_token_that_was_taken_before_expires(alice: Persona) -> None:
    token = signed(claims_of(alice, exp=now() - LEEWAY_SECONDS + 2))
    assert get_me(f"Bearer {token}").status_code == 200
    wait_for(lambda: get_me(f"Bearer {token}").status_code == 401, seconds=5)
