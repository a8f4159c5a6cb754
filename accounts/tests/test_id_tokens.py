"""Which ID tokens are taken, and what is read off them."""

import asyncio
import base64
import time
from typing import Any

import pytest
from pytest_django import Settings

from accounts.errors import IdentityProviderOff, InvalidIdToken
from accounts.google import MAX_LENGTH, IdentityClaims, read_id_token
from common.tests.upstream import Upstream
from simulator.identity import CLIENT_ID, ISSUER
from simulator.process import RunningSimulator

# The tests give these in seconds from now.
TIMES = ("exp", "iat", "nbf")


def claims_of(google: RunningSimulator, **claims: Any) -> IdentityClaims:
    """What is read off a token with these claims beside the usual ones."""
    now = int(time.time())
    moved = {name: now + claims[name] for name in TIMES if type(claims.get(name)) is int}
    return read_id_token(google.id_token(claims=claims | moved))


def segment(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def test_a_genuine_token_is_read(google: RunningSimulator) -> None:
    claims = claims_of(
        google,
        sub="110169484474386276334",
        email="Alice@Example.com",
        name="Alice Example",
        picture="https://pictures.example.com/alice.png",
    )
    assert claims == IdentityClaims(
        issuer=ISSUER,
        subject="110169484474386276334",
        email="alice@example.com",
        email_verified=True,
        name="Alice Example",
        picture="https://pictures.example.com/alice.png",
        token_digest=claims.token_digest,
        token_expires_at=claims.token_expires_at,
    )


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "mobile"},
        {"aud": [CLIENT_ID]},
        {"aud": [CLIENT_ID, "somebody-else"], "azp": "mobile"},
        {"aud": CLIENT_ID, "azp": "an-app-of-the-same-project"},
        {"azp": None},
        {"exp": -10},
        {"iat": 20},
        {"iat": -600},
        {"nbf": 20},
        {"nbf": None},
        {"sub": "s" * 255},
        {"nonce": "n", "hd": "example.com", "at_hash": "x"},
    ],
)
def test_it_is_taken(google: RunningSimulator, claims: dict[str, Any]) -> None:
    assert claims_of(google, **claims).email == "alice@example.com"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "somebody-else"},
        {"aud": f"{CLIENT_ID}.evil"},
        {"aud": None},
        {"aud": []},
        {"aud": 5},
        {"aud": {CLIENT_ID: 1}},
        {"aud": ["somebody-else"]},
        {"aud": [CLIENT_ID, 5]},
        {"aud": [CLIENT_ID, "somebody-else"], "azp": None},
        {"aud": [CLIENT_ID, "somebody-else"], "azp": "somebody-else"},
        {"aud": [CLIENT_ID, "somebody-else"], "azp": [CLIENT_ID]},
        {"iss": "https://accounts.example.com"},
        {"iss": f"{ISSUER}/"},
        {"iss": None},
        {"iss": [ISSUER]},
        {"exp": -60},
        {"exp": None},
        {"exp": "soon"},
        {"exp": [1]},
        {"iat": 60},
        {"iat": -660},
        {"iat": None},
        {"iat": "now"},
        {"iat": True},
        {"nbf": 60},
        {"nbf": {}},
        {"sub": None},
        {"sub": ""},
        {"sub": 5},
        {"sub": "s" * 256},
        {"sub": "é"},
        {"sub": "1\u0000"},
        {"jti": 5},
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(
    google: RunningSimulator, claims: dict[str, Any]
) -> None:
    with pytest.raises(InvalidIdToken):
        claims_of(google, **claims)


@pytest.mark.parametrize(
    "option",
    [
        {"header": {"alg": "none"}},
        {"header": {"alg": None}},
        {"header": {"alg": "HS256"}},
        {"header": {"alg": "RS384"}},
        {"header": {"alg": "RS512"}},
        {"header": {"kid": None}},
        {"header": {"kid": 5}},
        {"header": {"kid": "unknown"}},
        {"header": {"crit": ["exp"], "exp": 1}},
        {"header": {"crit": ["b64"], "b64": False}},
        {"key": "foreign"},
    ],
)
def test_a_token_that_is_not_signed_with_the_key_is_refused(
    google: RunningSimulator, option: dict[str, Any]
) -> None:
    with pytest.raises(InvalidIdToken):
        read_id_token(google.id_token(**option))


def test_the_claims_are_those_that_were_signed(google: RunningSimulator) -> None:
    header, claims, signature = google.id_token().split(".")
    _, others, _ = google.id_token(claims={"email": "bob@example.com"}).split(".")
    for forged in (f"{header}.{others}.{signature}", f"{header}.{claims}.", f"{header}.{claims}"):
        with pytest.raises(InvalidIdToken):
            read_id_token(forged)


@pytest.mark.parametrize("name", ["jku", "x5u"])
async def test_keys_that_the_token_points_to_are_not_fetched(
    google: RunningSimulator, name: str
) -> None:
    async with Upstream() as stranger:
        token = google.id_token(key="foreign", header={name: stranger.url, "kid": "mine"})
        with pytest.raises(InvalidIdToken):
            await asyncio.to_thread(read_id_token, token)
        assert stranger.connections == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "e30.e30.e30",
        "é.é.é",
        "\ud800",
        "x" * MAX_LENGTH,
        segment(b"[" * 5000) + ".e30.e30",
        segment(b'{"alg": "RS256", "kid": ' + b"[" * 5000) + ".e30.e30",
        segment(b'{"alg": ["RS256"], "kid": "k"}') + ".e30.e30",
        segment(b'{"alg": "RS256", "kid": "' + b"k" * 5000 + b'"}') + ".e30.e30",
        segment(b'{"alg": "RS256", "kid": ' + b"9" * 5000 + b"}") + ".e30.e30",
        segment(b"\xff") + ".e30.e30",
    ],
)
def test_garbage_is_refused(google: RunningSimulator, text: str) -> None:
    with pytest.raises(InvalidIdToken):
        read_id_token(text)


def test_a_genuine_token_can_be_too_long(google: RunningSimulator) -> None:
    with pytest.raises(InvalidIdToken):
        claims_of(google, hd="x" * MAX_LENGTH)


def test_without_a_client_id_no_token_is_looked_at(
    google: RunningSimulator, settings: Settings
) -> None:
    settings.GOOGLE_CLIENT_IDS = []
    with pytest.raises(IdentityProviderOff):
        read_id_token(google.id_token())


def test_the_two_names_of_google_are_one_issuer(google: RunningSimulator) -> None:
    names = ("accounts.google.com", "https://accounts.google.com")
    assert {claims_of(google, iss=name).issuer for name in names} == {names[1]}


def test_the_key_before_is_taken_until_the_next_rotation(google: RunningSimulator) -> None:
    before = google.id_token()
    google.rotate_keys()
    assert read_id_token(google.id_token())
    assert read_id_token(before)


def test_a_key_that_was_given_up_is_not_taken(google: RunningSimulator) -> None:
    token = google.id_token()
    google.rotate_keys()
    google.rotate_keys()
    with pytest.raises(InvalidIdToken):
        read_id_token(token)


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_is_verified_only_if_that_is_said_plainly(
    google: RunningSimulator, verified: object
) -> None:
    assert claims_of(google, email_verified=verified).email_verified is False


@pytest.mark.parametrize(
    "email",
    [
        "",
        "alice",
        "alice@",
        5,
        ["a@b.com"],
        "a\u0000@example.com",
        "é@example.com",
        '"alice"@example.com',
        "alice@localhost",
    ],
)
def test_an_address_that_is_none_counts_as_none(google: RunningSimulator, email: object) -> None:
    assert claims_of(google, email=email).email == ""


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        (None, ""),
        (5, ""),
        ("  Zoë \U0001f469\u200d\U0001f680 ", "Zoë \U0001f469\u200d\U0001f680"),
        ("A\u0000\nB\u2028\u009f", "AB"),
        ("n" * 300, "n" * 200),
    ],
)
def test_a_name_is_one_line_that_fits(google: RunningSimulator, stated: object, kept: str) -> None:
    assert claims_of(google, name=stated).name == kept


@pytest.mark.parametrize(
    "picture",
    [None, 5, "", "http://example.com/a.png", "javascript:alert(1)", "https://e.com/" + "a" * 500],
)
def test_a_picture_that_is_not_on_the_secure_web_is_left_out(
    google: RunningSimulator, picture: object
) -> None:
    assert claims_of(google, picture=picture).picture == ""


# --- That it is used once -------------------------------------------------------------------------


def test_its_id_names_a_token_and_its_issuer_the_id(google: RunningSimulator) -> None:
    one = claims_of(google, jti="1").token_digest
    assert claims_of(google, jti="1", name="Other").token_digest == one
    assert claims_of(google, jti="2").token_digest != one
    assert claims_of(google, jti="1", iss="accounts.google.com").token_digest != one


@pytest.mark.parametrize("jti", [None, ""])
def test_a_token_without_an_id_is_named_by_what_is_signed(
    google: RunningSimulator, jti: str | None
) -> None:
    token = google.id_token(claims={"jti": jti})
    assert read_id_token(token).token_digest == read_id_token(token).token_digest
    other = google.id_token(claims={"jti": jti, "name": "Other"})
    assert read_id_token(token).token_digest != read_id_token(other).token_digest


def test_it_is_remembered_for_as_long_as_it_would_be_taken(google: RunningSimulator) -> None:
    issued_at = int(time.time()) - 60
    claims = read_id_token(google.id_token(claims={"iat": issued_at}))
    assert claims.token_expires_at.timestamp() == issued_at + 630


@pytest.mark.parametrize(
    ("sent", "claimed", "is_taken"),
    [
        (None, None, True),
        (None, "n", True),
        ("n", "n", True),
        ("n", None, False),
        ("n", "N", False),
        ("", "n", False),
        ("n", 5, False),
        ("n", ["n"], False),
    ],
)
def test_a_nonce_that_is_sent_has_to_be_the_one_of_the_token(
    google: RunningSimulator, sent: str | None, claimed: object, is_taken: bool
) -> None:
    token = google.id_token(claims={"nonce": claimed})
    if is_taken:
        assert read_id_token(token, sent).email == "alice@example.com"
    else:
        with pytest.raises(InvalidIdToken):
            read_id_token(token, sent)
