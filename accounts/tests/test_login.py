"""POST /api/auth/login"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import SignInFailures, User
from accounts.services import sessions
from accounts.tests.hashing import counted_hashes
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


@pytest.mark.parametrize("account", ["wrong", "unknown", "deactivated", "without", "an operator's"])
def test_a_refusal_costs_one_hash_and_three_queries_whatever_the_cause(
    alice: Persona, visitor: APIClient, account: str
) -> None:
    """A wrong password, an unknown address, a closed account, one that has no password, that of an
    operator. One asks whether it may be tried, and one counts the failure."""
    if account == "an operator's":
        User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    if account == "deactivated":
        User.objects.filter(pk=alice.user.pk).update(status=User.Status.DEACTIVATED)
    if account == "without":
        alice.user.set_unusable_password()
        alice.user.save()
    email = "nobody@example.com" if account == "unknown" else "alice@example.com"
    with CaptureQueriesContext(connection) as queries, counted_hashes() as hashed:
        response = log_in(visitor, email, "wrong password")
    assert response.status_code == 401
    assert (len(queries), len(hashed)) == (3, 1)


def test_operators_wait_longer_than_they_are_told(alice: Persona, visitor: APIClient) -> None:
    """As long as in the admin, in the words of a wrong password: nobody can tell who is one."""
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    wrong = [log_in(visitor, "alice@example.com", "wrong password") for _ in range(5)]
    for email in ("alice@example.com", " ALICE@example.com"):
        assert log_in(visitor, email).status_code == 429
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(seconds=30))
    with counted_hashes() as hashed:
        right = log_in(visitor, "alice@example.com")
    assert (right.status_code, right.json()) == (401, wrong[0].json())
    assert len(hashed) == 1
    elsewhere = APIClient(REMOTE_ADDR="192.0.2.7")
    assert log_in(elsewhere, "alice@example.com").status_code == 200


def test_who_is_kept_out_of_the_admin_is_kept_out_here(alice: Persona, visitor: APIClient) -> None:
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    for _ in range(5):
        Client().post("/admin/login/", {"username": alice.user.email, "password": "wrong"})
    assert log_in(visitor, "alice@example.com").status_code == 429
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(seconds=30))
    assert log_in(visitor, "alice@example.com").status_code == 401


def test_the_right_password_begins_anew(alice: Persona, visitor: APIClient) -> None:
    for _ in range(3):
        for _ in range(4):
            assert log_in(visitor, "alice@example.com", "wrong password").status_code == 401
        assert log_in(visitor, "alice@example.com").status_code == 200
        # The count of the address, over all accounts, goes on.
        left = SignInFailures.objects.values_list("name", flat=True)
        assert {name.partition(" from ")[2] for name in left} == {"any account"}


@pytest.mark.parametrize("email", ["x" * 100_000, "İ" * 250, "nobody"])
def test_what_is_no_address_is_unknown(visitor: APIClient, email: str) -> None:
    assert log_in(visitor, email).status_code == 401


@pytest.fixture
def hashed_long_ago(alice: Persona, settings: Settings) -> User:
    """Alice, whose password was hashed in a way that is not the first choice any more."""
    old = "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    settings.PASSWORD_HASHERS = [*settings.PASSWORD_HASHERS, old]
    alice.user.password = PBKDF2PasswordHasher().encode(alice.password, "salt" * 6, iterations=1)
    alice.user.save()
    return alice.user


def test_a_password_that_was_hashed_long_ago_is_hashed_anew(
    hashed_long_ago: User, visitor: APIClient
) -> None:
    for _ in range(2):
        assert log_in(visitor, "alice@example.com").status_code == 200
        assert User.objects.get(pk=hashed_long_ago.pk).password.startswith("md5$")


def test_hashing_anew_does_not_bring_an_old_password_back(hashed_long_ago: User) -> None:
    """The password is changed while a sign-in with the old one is under way."""
    new = make_password("a wholly different phrase")
    User.objects.filter(pk=hashed_long_ago.pk).update(password=new)
    assert hashed_long_ago.check_password(PASSWORD)
    assert User.objects.get(pk=hashed_long_ago.pk).password == new


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


def test_a_password_of_a_megabyte_costs_nothing(alice: Persona, visitor: APIClient) -> None:
    with counted_hashes() as hashed:
        assert log_in(visitor, "alice@example.com", "x" * 999_000).status_code == 422
        assert log_in(visitor, "alice@example.com", "x" * 1_000_000).status_code == 413
    assert hashed == []


@pytest.mark.parametrize(
    "password",
    ["пароль из четырёх слов", "contraseña 李", "👩🏽‍🚀 three words", "éa" * 512],
)
def test_a_password_may_be_written_in_any_script(
    db: None, visitor: APIClient, password: str
) -> None:
    sessions.sign_up(email="dora@example.com", password=password)
    assert log_in(visitor, "dora@example.com", password).status_code == 200
    assert log_in(visitor, "dora@example.com", f"{password[:-1]}x").status_code in (401, 422)


@pytest.mark.parametrize("character", ["\\u0000", "\\ud800", "\\udfff"])
def test_what_is_no_text_is_malformed(alice: Persona, visitor: APIClient, character: str) -> None:
    body = f'{{"email": "alice@example.com", "password": "before{character}after"}}'
    with counted_hashes() as hashed:
        response = visitor.post("/api/auth/login", body, content_type="application/json")
    assert response.status_code == 400
    assert hashed == []


@pytest.mark.parametrize("password", [None, 5, ["a"], ""])
def test_a_password_is_text(alice: Persona, visitor: APIClient, password: Any) -> None:
    assert log_in(visitor, "alice@example.com", password).status_code == 422
