"""POST /api/auth/signup"""

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from conftest import PASSWORD, Persona

pytestmark = pytest.mark.django_db

URL = "/api/auth/signup"


def sign_up(visitor: APIClient, **body: Any) -> Any:
    return visitor.post(
        URL, {"email": "dora@example.com", "password": PASSWORD, **body}, format="json"
    )


def dora() -> User:
    return User.objects.get(email="dora@example.com")


def test_it_answers_tokens_and_the_user(visitor: APIClient) -> None:
    response = sign_up(visitor, name="Dora")
    assert response.status_code == 201
    body = response.json()
    assert body.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    assert body["token_type"] == "bearer"
    assert body["expires_in"] == 3600
    user = body["user"]
    assert user.pop("id") == str(dora().pk)
    assert user.pop("created_at").endswith("Z")
    assert user == {
        "email": "dora@example.com",
        "name": "Dora",
        "avatar_url": "",
        "plan": "free",
        "email_verified": False,
        "is_staff": False,
    }


def test_the_access_token_works_at_once(visitor: APIClient) -> None:
    token = sign_up(visitor).json()["access_token"]
    response = visitor.get("/api/auth/me", HTTP_AUTHORIZATION=f"Bearer {token}")
    assert response.status_code == 200


def test_the_name_may_be_left_out(visitor: APIClient) -> None:
    assert sign_up(visitor).json()["user"]["name"] == ""


def test_the_address_is_kept_in_lower_case(visitor: APIClient) -> None:
    assert sign_up(visitor, email="Dora@Example.COM").json()["user"]["email"] == "dora@example.com"


def test_a_taken_address_is_a_conflict_in_any_case(alice: Persona, visitor: APIClient) -> None:
    response = sign_up(visitor, email="ALICE@example.com")
    assert response.status_code == 409
    assert "e-mail" in response.json()["detail"]
    assert User.objects.filter(email__iexact="alice@example.com").count() == 1


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "12345678901",
        "password123",
        "dora@example.com",
        " " * 8,
        "\u200b \u00a0\t" * 4,
        "\u2800" * 12,
        "ñ" * 12,
        "aAaAaAaAaAaA",
    ],
)
def test_a_weak_password_is_refused(visitor: APIClient, password: str) -> None:
    response = sign_up(visitor, password=password)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["password"]
    assert not User.objects.filter(email="dora@example.com").exists()


def test_a_password_of_1024_characters_is_taken_and_one_more_is_not(visitor: APIClient) -> None:
    assert sign_up(visitor, password="aB3-" * 256 + "x").status_code == 422
    assert sign_up(visitor, password="aB3-" * 256).status_code == 201


def test_spaces_around_a_password_belong_to_it(visitor: APIClient) -> None:
    password = f"  {PASSWORD}  "
    sign_up(visitor, password=password)
    credentials = {"email": "dora@example.com", "password": password}
    assert visitor.post("/api/auth/login", credentials, format="json").status_code == 200
    credentials["password"] = PASSWORD
    assert visitor.post("/api/auth/login", credentials, format="json").status_code == 401


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", None),
        ("email", 5),
        ("email", "nobody"),
        ("email", "a" * 250 + "@example.com"),
        ("email", "dora@münchen.example"),
        ("email", ["dora@example.com"]),
        ("password", None),
        ("password", 12345678901234),
        ("password", {"a": 1}),
        ("name", "n" * 201),
        ("name", "Dora\nExplorer"),
        ("name", 5),
        ("name", None),
    ],
)
def test_a_wrong_value_is_named(visitor: APIClient, field: str, value: Any) -> None:
    response = sign_up(visitor, **{field: value})
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [field]
    assert response.json()["detail"].startswith(f"{field}: ")


@pytest.mark.parametrize("body", [[], "text", 5, None, {}])
def test_a_body_without_the_fields_is_refused(visitor: APIClient, body: Any) -> None:
    assert visitor.post(URL, body, format="json").status_code == 422


def test_nobody_makes_themselves_staff(visitor: APIClient) -> None:
    response = sign_up(visitor, is_staff=True, is_superuser=True, plan="max", email_verified=True)
    assert response.json()["user"]["is_staff"] is False
    user = dora()
    assert (user.is_staff, user.is_superuser, user.email_verified) == (False, False, False)


def test_the_password_is_not_stored(visitor: APIClient) -> None:
    sign_up(visitor)
    assert PASSWORD not in dora().password
