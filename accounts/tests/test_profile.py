"""GET and PATCH /api/users/me"""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from conftest import Persona

pytestmark = pytest.mark.django_db

URL = "/api/users/me"


def patch(persona: Persona, **changes: Any) -> Any:
    return persona.client.patch(URL, changes, format="json")


def test_it_answers_the_profile(alice: Persona) -> None:
    response = alice.client.get(URL)
    assert response.status_code == 200
    user = alice.client.get("/api/auth/me").json()
    assert response.json() == user | {"locale": "", "timezone": "UTC"}


def test_what_is_named_changes_and_the_rest_stays(alice: Persona) -> None:
    before = alice.client.get(URL).json()
    changes = {
        "name": "Alice Liddell",
        "avatar_url": "https://example.com/alice.png",
        "locale": "pt-BR",
        "timezone": "Europe/Lisbon",
    }
    for field, value in changes.items():
        before |= {field: value}
        response = patch(alice, **{field: value})
        assert response.status_code == 200
        assert response.json() == before
    assert alice.client.get(URL).json() == before


def test_all_can_change_at_once_or_nothing(alice: Persona) -> None:
    before = alice.client.get(URL).json()
    assert patch(alice).json() == before
    changes = {"name": "A", "avatar_url": "https://a.example", "locale": "en", "timezone": "UTC"}
    assert patch(alice, **changes).json() == before | changes


def test_a_name_a_picture_and_a_language_can_be_cleared(alice: Persona) -> None:
    patch(alice, avatar_url="https://example.com/alice.png", locale="en")
    cleared = {"name": "", "avatar_url": "", "locale": ""}
    assert patch(alice, **cleared).json().items() >= cleared.items()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "n" * 200),
        ("name", "Ælice Ñandú 李 👩🏽‍🚀"),
        ("name", "<script>alert(1)</script>"),
        ("avatar_url", "https://example.com/" + "a" * 480),
        ("locale", "en"),
        ("locale", "zh-Hant-TW"),
        ("locale", "de-CH-1996"),
        ("timezone", "America/Argentina/Buenos_Aires"),
        ("timezone", "Etc/GMT+12"),
    ],
)
def test_a_value_is_kept_as_it_was_sent(alice: Persona, field: str, value: str) -> None:
    assert patch(alice, **{field: value}).status_code == 200
    assert alice.client.get(URL).json()[field] == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", 5),
        ("name", ["Alice"]),
        ("name", "n" * 201),
        ("name", "Alice\nLiddell"),
        ("name", "Alice\x7f"),
        ("name", "Alice\x1b[31m"),
        ("name", "Alice\u2028Liddell"),
        ("avatar_url", None),
        ("avatar_url", "http://example.com/alice.png"),
        ("avatar_url", "javascript:alert(1)"),
        ("avatar_url", "data:image/png;base64,AAAA"),
        ("avatar_url", "//example.com/alice.png"),
        ("avatar_url", "example.com"),
        ("avatar_url", "https://"),
        ("avatar_url", "https://alice:secret@example.com/alice.png"),
        ("avatar_url", "https://alice@example.com/alice.png"),
        ("avatar_url", 'https://example.com/"><script>alert(1)</script>'),
        ("avatar_url", "https://example.com/'onerror=alert(1)"),
        ("avatar_url", "https://example.com/a`b"),
        ("avatar_url", "https://example.com/a\\b"),
        ("avatar_url", "https://example.com/ñ.png"),
        ("avatar_url", "https://example.com/" + "a" * 481),
        ("avatar_url", "https://example.com/\nSet-Cookie:x"),
        ("locale", None),
        ("locale", "e"),
        ("locale", "en_US"),
        ("locale", "en-"),
        ("locale", "en\nUS"),
        ("locale", "ën"),
        ("locale", "en-" + "a" * 9),
        ("locale", "en" + "-abcdefgh" * 5),
        ("timezone", None),
        ("timezone", ""),
        ("timezone", "Lisbon"),
        ("timezone", "../../etc/passwd"),
        ("timezone", "europe/lisbon"),
        ("timezone", "U" * 100_000),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(alice: Persona, field: str, value: Any) -> None:
    before = alice.client.get(URL).json()
    response = patch(alice, **({"name": "Changed"} | {field: value}))
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [field]
    assert alice.client.get(URL).json() == before


def test_what_is_not_ones_own_to_change_is_ignored(alice: Persona) -> None:
    before = alice.client.get(URL).json()
    theirs = {
        "id": "0",
        "email": "other@example.com",
        "email_verified": True,
        "is_staff": True,
        "is_superuser": True,
        "plan": "max",
        "status": "suspended",
        "token_version": 9,
        "password": "x",
    }
    assert patch(alice, **theirs).json() == before
    assert alice.client.get(URL).json() == before


def test_it_leaves_others_alone(alice: Persona, bob: Persona) -> None:
    patch(alice, name="Mallory")
    assert bob.client.get(URL).json()["name"] == "Bob"


def test_the_profile_takes_one_query(alice: Persona) -> None:
    """The user by the token, with the plan."""
    with CaptureQueriesContext(connection) as queries:
        alice.client.get(URL)
    assert len(queries) == 1


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_it_needs_a_session(visitor: APIClient, method: str) -> None:
    assert getattr(visitor, method)(URL).status_code == 401


@pytest.mark.parametrize("body", ["[]", '"text"', "5", "null"])
def test_the_body_is_an_object(alice: Persona, body: str) -> None:
    assert alice.client.patch(URL, body, content_type="application/json").status_code == 422
