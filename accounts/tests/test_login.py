"""POST /api/auth/login"""

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import sessions
from conftest import PASSWORD, Persona

pytestmark = pytest.mark.django_db


def log_in(visitor: APIClient, email: str, password: Any = PASSWORD) -> Any:
    return visitor.post("/api/auth/login", {"email": email, "password": password}, format="json")


def test_it_answers_tokens_and_the_user(alice: Persona, visitor: APIClient) -> None:
    response = log_in(visitor, "alice@example.com")
    assert response.status_code == 200
    body = response.json()
    assert body["user"]["id"] == str(alice.user.pk)
    assert body["user"]["plan"] == "free"
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)


def test_the_case_of_the_address_does_not_matter(alice: Persona, visitor: APIClient) -> None:
    assert log_in(visitor, " Alice@Example.com ").status_code == 200


def test_a_wrong_password_and_an_unknown_address_look_the_same(
    alice: Persona, visitor: APIClient
) -> None:
    wrong = log_in(visitor, "alice@example.com", "wrong password")
    unknown = log_in(visitor, "nobody@example.com")
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()


def test_an_unknown_address_costs_one_hash_too(
    alice: Persona, visitor: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    monkeypatch.setattr(sessions, "make_password", hashed.append)
    log_in(visitor, "nobody@example.com", "some password")
    assert hashed == ["some password"]


def test_a_suspended_account_is_told_so_only_with_its_password(
    alice: Persona, visitor: APIClient
) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=User.Status.SUSPENDED)
    response = log_in(visitor, "alice@example.com")
    assert response.status_code == 403
    assert "suspended" in response.json()["detail"]
    assert log_in(visitor, "alice@example.com", "wrong password").status_code == 401


def test_a_deactivated_account_looks_unknown(alice: Persona, visitor: APIClient) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=User.Status.DEACTIVATED)
    response = log_in(visitor, "alice@example.com")
    assert response.status_code == 401
    assert response.json() == log_in(visitor, "nobody@example.com").json()


def test_a_stale_token_in_the_header_does_not_stand_in_the_way(
    alice: Persona, visitor: APIClient
) -> None:
    visitor.credentials(HTTP_AUTHORIZATION="Bearer stale")
    assert log_in(visitor, "alice@example.com").status_code == 200


def test_a_password_over_1024_characters_is_refused_before_hashing(
    alice: Persona, visitor: APIClient
) -> None:
    assert log_in(visitor, "alice@example.com", "x" * 1025).status_code == 422


@pytest.mark.parametrize("password", [None, 5, ["a"], ""])
def test_a_password_is_text(alice: Persona, visitor: APIClient, password: Any) -> None:
    assert log_in(visitor, "alice@example.com", password).status_code == 422
