"""POST /api/auth/reset-password and /api/auth/reset-password/verify"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.errors import InvalidCredentials, InvalidEmailedToken
from accounts.models import ApiKey, EmailedToken, LinkedIdentity, User
from accounts.services import passwords, sessions, verification
from accounts.tests.hashing import counted_hashes
from accounts.tests.mailbox import delivered, mailed_token
from conftest import Persona, persona
from tests.personas import new_key

URL = "/api/auth/reset-password"
NEW = "a wholly different phrase"


def request_token(address: str = "alice@example.com") -> str:
    passwords.request_reset(email=address)
    return mailed_token("/reset-password", address)


def reset(token: Any, password: Any = NEW) -> Any:
    return APIClient().post(URL, {"token": token, "password": password}, format="json")


def is_valid(token: Any) -> Any:
    response = APIClient().post(f"{URL}/verify", {"token": token}, format="json")
    assert response.status_code == 200
    state = response.json()
    assert state.keys() == {"valid", "email"}
    assert (state["email"] is not None) == state["valid"]
    return state["valid"]


def can_sign_in(password: str, email: str = "alice@example.com") -> bool:
    try:
        sessions.sign_in(email=email, password=password)
    except InvalidCredentials:
        return False
    return True


def test_it_sets_the_password(alice: Persona) -> None:
    response = reset(request_token())
    assert (response.status_code, response.content) == (204, b"")
    assert can_sign_in(NEW)
    assert not can_sign_in(alice.password)


def test_a_token_from_before_the_secret_key_was_changed_is_good(
    alice: Persona, settings: Settings
) -> None:
    token = request_token()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-32-bytes"
    assert is_valid(token)
    settings.SECRET_KEY_FALLBACKS = []
    assert not is_valid(token)


def test_whoever_has_the_token_has_the_address(alice: Persona) -> None:
    reset(request_token())
    assert User.objects.get(pk=alice.user.pk).email_verified


def test_every_session_ends(alice: Persona, visitor: APIClient) -> None:
    elsewhere = sessions.sign_in(email="alice@example.com", password=alice.password)
    reset(request_token())
    assert alice.client.get("/api/auth/me").status_code == 401
    for signed_in in (alice.signed_in, elsewhere):
        body = {"refresh_token": signed_in.refresh_token}
        assert visitor.post("/api/auth/refresh", body, format="json").status_code == 401


@pytest.mark.parametrize("was_verified", [False, True])
def test_nobody_lies_in_wait_with_a_key(alice: Persona, was_verified: bool) -> None:
    """Who signed up with the address of somebody else, who may even have followed the link of the
    mail that they got, without a session."""
    key, _ = new_key(alice.user)
    if was_verified:
        verification.verify_email(token=mailed_token("/verify-email"), signed_in=None)
    assert reset(request_token()).status_code == 204
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None
    assert can_sign_in(NEW)
    assert "Your password was changed" in delivered()[0].subject


def test_who_showed_that_the_address_is_theirs_keeps_their_keys(alice: Persona) -> None:
    key, _ = new_key(alice.user)
    verification.verify_email(token=mailed_token("/verify-email"), signed_in=alice.user)
    assert reset(request_token()).status_code == 204
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None


@pytest.mark.parametrize("of_its_address", [True, False])
def test_identities_stay_linked_only_where_the_address_was_shown_before(
    alice: Persona, of_its_address: bool
) -> None:
    User.objects.filter(pk=alice.user.pk).update(
        email_verified=of_its_address, verified_by_holder=True
    )
    LinkedIdentity.objects.create(user=alice.user, issuer="https://i.example.com", subject="1")
    assert reset(request_token()).status_code == 204
    assert alice.user.identities.exists() == of_its_address


def test_who_set_the_password_by_mail_holds_the_account(alice: Persona) -> None:
    reset(request_token())
    key, _ = new_key(alice.user)
    reset(request_token())
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None


def test_visits_to_the_admin_end(db: None) -> None:
    operator = User.objects.create_superuser("operator@example.com", "secret")
    admin = Client()
    admin.force_login(operator)
    assert admin.get("/admin/").status_code == 200
    reset(request_token("operator@example.com"))
    assert admin.get("/admin/").status_code == 302


def test_the_user_is_told(alice: Persona) -> None:
    reset(request_token())
    mail = delivered()[0]
    assert "Your password was changed" in mail.subject
    assert "token=" not in str(mail.body)


def test_a_token_works_once(alice: Persona) -> None:
    token = request_token()
    assert reset(token).status_code == 204
    response = reset(token, "yet another phrase")
    assert response.status_code == 422
    assert response.json()["detail"] == f"token: {InvalidEmailedToken.problem}"
    assert can_sign_in(NEW)


def test_using_one_token_voids_the_others(alice: Persona) -> None:
    first, second = request_token(), request_token()
    assert is_valid(first)
    assert reset(second).status_code == 204
    assert not is_valid(first)
    assert reset(first).status_code == 422


def test_a_weak_password_is_named_and_leaves_the_token_usable(alice: Persona) -> None:
    token = request_token()
    for password in ("short", "12345678901", "password123", "alice@example.com"):
        response = reset(token, password)
        assert response.status_code == 422
        assert response.json()["errors"][0]["loc"] == ["password"]
    assert can_sign_in(alice.password)
    assert reset(token).status_code == 204


def test_a_token_lasts_for_an_hour(alice: Persona) -> None:
    token = request_token()
    rows = EmailedToken.objects.filter(user=alice.user, purpose="reset_password")
    lifetime = rows.get().expires_at - timezone.now()
    assert timedelta(minutes=59) < lifetime <= timedelta(hours=1)
    rows.update(expires_at=timezone.now())
    assert not is_valid(token)
    assert reset(token).status_code == 422
    assert can_sign_in(alice.password)


@pytest.mark.parametrize("status", [User.Status.SUSPENDED, User.Status.DEACTIVATED])
def test_an_account_that_is_not_active_has_no_usable_token(alice: Persona, status: str) -> None:
    token = request_token()
    User.objects.filter(pk=alice.user.pk).update(status=status)
    assert not is_valid(token)
    assert reset(token).status_code == 422


def test_a_token_that_cannot_be_used_costs_no_hash(alice: Persona) -> None:
    with counted_hashes() as hashed:
        assert reset("x" * 43).status_code == 422
        assert reset(mailed_token("/verify-email")).status_code == 422
    assert hashed == []


def test_an_account_without_a_password_gets_one(alice: Persona) -> None:
    alice.user.set_unusable_password()
    alice.user.save()
    assert reset(request_token()).status_code == 204
    assert can_sign_in(NEW)


def test_a_token_of_one_user_leaves_others_alone(alice: Persona, bob: Persona) -> None:
    kept = request_token("bob@example.com")
    reset(request_token())
    assert can_sign_in(bob.password, "bob@example.com")
    assert bob.client.get("/api/auth/me").status_code == 200
    assert is_valid(kept)


def test_of_two_uses_at_once_one_wins(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")
    User.objects.filter(pk=alice.user.pk).update(email_verified=True, verified_by_holder=True)
    token = request_token(alice.user.email)

    def once(number: int) -> int | None:
        try:
            passwords.reset_password(token=token, password=f"{NEW} {number}")
        except InvalidEmailedToken:
            return None
        finally:
            connection.close()
        return number

    with ThreadPoolExecutor(4) as pool:
        winners = [number for number in pool.map(once, range(4)) if number is not None]
    assert len(winners) == 1
    assert can_sign_in(f"{NEW} {winners[0]}", alice.user.email)
    assert User.objects.get(pk=alice.user.pk).token_version == 2


def test_a_token_says_whose_password_it_sets(alice: Persona) -> None:
    """For the page, which signs in next, and for the browser, which keeps the password."""
    response = APIClient().post(f"{URL}/verify", {"token": request_token()}, format="json")
    assert response.json() == {"valid": True, "email": "alice@example.com"}


@pytest.mark.parametrize("token", ["x", "x" * 43, "tøken", "x" * 100_000])
def test_what_is_no_token_is_not_valid(db: None, token: str) -> None:
    assert is_valid(token) is False


def test_asking_does_not_use_a_token_up(alice: Persona) -> None:
    token = request_token()
    assert is_valid(token)
    assert is_valid(token)
    assert not is_valid(mailed_token("/verify-email"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("token", None),
        ("token", 5),
        ("token", ""),
        ("password", None),
        ("password", 12345678901234),
        ("password", "x" * 1025),
    ],
)
def test_a_wrong_value_is_named(db: None, field: str, value: Any) -> None:
    body = {"token": "x" * 43, "password": NEW} | {field: value}
    response = APIClient().post(URL, body, format="json")
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [field]
