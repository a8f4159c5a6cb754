"""POST /api/auth/google"""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import tasks
from accounts.models import (
    ApiKey,
    EmailedToken,
    LinkedIdentity,
    OutgoingEmail,
    UsedIdToken,
    User,
)
from accounts.services import api_keys, passwords, sessions, verification
from accounts.tests.mailbox import mailed_token
from conftest import PASSWORD, Persona
from devserver.ports import free_port
from simulator.process import RunningSimulator
from tests.service import Web

URL = "/api/auth/google"
NEW = {"sub": "1", "email": "new@example.com", "name": "New", "picture": "https://p.example.com/n"}


def send(token: Any) -> Any:
    return APIClient().post(URL, {"id_token": token}, format="json")


def sign_in(google: RunningSimulator, **claims: Any) -> Any:
    return send(google.id_token(claims=NEW | claims))


def verify(persona: Persona, *, signed_in: bool = True) -> None:
    """Let the persona follow the link of the mail, in a browser where they are signed in or not."""
    verification.verify_email(
        token=mailed_token("/verify-email", persona.user.email),
        signed_in=persona.user if signed_in else None,
    )


def is_live(access_token: str) -> bool:
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {access_token}")
    return bool(client.get("/api/auth/me").status_code == 200)


def can_refresh(refresh_token: str) -> bool:
    body = {"refresh_token": refresh_token}
    response = APIClient().post("/api/auth/refresh", body, format="json")
    return bool(response.status_code == 200)


def can_log_in(email: str) -> bool:
    body = {"email": email, "password": PASSWORD}
    return bool(APIClient().post("/api/auth/login", body, format="json").status_code == 200)


# --- Who nobody knew -----------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_first_time_makes_an_account(google: RunningSimulator) -> None:
    response = sign_in(google)
    assert response.status_code == 200
    body = response.json()
    assert body.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    user = body["user"]
    assert (user["email"], user["name"]) == ("new@example.com", "New")
    assert (user["avatar_url"], user["plan"]) == ("https://p.example.com/n", "free")
    assert user["email_verified"] is True
    assert is_live(body["access_token"])
    assert can_refresh(body["refresh_token"])
    assert not User.objects.get(email="new@example.com").has_usable_password()


@pytest.mark.django_db
def test_the_next_time_is_the_same_account(google: RunningSimulator) -> None:
    first, second = sign_in(google).json(), sign_in(google).json()
    assert first["user"] == second["user"]
    assert LinkedIdentity.objects.count() == 1


@pytest.mark.django_db
def test_an_address_that_changes_at_google_changes_nothing_here(google: RunningSimulator) -> None:
    first = sign_in(google).json()
    moved = sign_in(google, email="moved@example.com", name="Other").json()
    assert moved["user"] == first["user"]
    unverified = sign_in(google, email_verified=False).json()
    assert unverified["user"] == first["user"]


@pytest.mark.django_db
def test_the_two_names_of_google_are_one_identity(google: RunningSimulator) -> None:
    names = ("accounts.google.com", "https://accounts.google.com")
    users = [sign_in(google, iss=name).json()["user"]["id"] for name in names]
    assert users[0] == users[1]
    assert LinkedIdentity.objects.get().issuer == "https://accounts.google.com"


@pytest.mark.django_db
@pytest.mark.parametrize("claims", [{"email_verified": False}, {"email": None}, {"email": "alice"}])
def test_without_a_verified_address_nobody_new_comes_in(
    google: RunningSimulator, claims: dict[str, Any]
) -> None:
    response = sign_in(google, **claims)
    assert response.status_code == 403
    assert "vouch" in response.json()["detail"]
    assert not User.objects.exists()


# --- Whose address has an account ----------------------------------------------------------------


def test_an_account_with_a_verified_address_is_linked(
    google: RunningSimulator, alice: Persona
) -> None:
    verify(alice)
    response = sign_in(google, email="Alice@example.com", name="Somebody")
    assert response.status_code == 200
    assert response.json()["user"]["id"] == str(alice.user.pk)
    assert response.json()["user"]["name"] == "Alice"
    assert is_live(alice.signed_in.access_token)
    assert can_log_in("alice@example.com")


def test_nobody_lies_in_wait_in_an_account_that_was_verified_by_a_stray_click(
    google: RunningSimulator, alice: Persona
) -> None:
    """Who signs up with the address of somebody else has a mail sent to them, and they may follow
    its link; but then they are not signed in to the account."""
    key, _ = api_keys.create_key(user=alice.user, name="mine")
    verify(alice, signed_in=False)

    response = sign_in(google, email="alice@example.com")

    assert response.json()["user"]["id"] == str(alice.user.pk)
    assert is_live(response.json()["access_token"])
    assert not is_live(alice.signed_in.access_token)
    assert not can_refresh(alice.signed_in.refresh_token)
    assert not can_log_in("alice@example.com")
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None


def test_a_stray_click_later_does_not_undo_what_the_holder_showed(
    google: RunningSimulator, alice: Persona
) -> None:
    token = mailed_token("/verify-email")
    User.objects.filter(pk=alice.user.pk).update(email_verified=True, verified_by_holder=True)
    verification.verify_email(token=token, signed_in=None)
    assert sign_in(google, email="alice@example.com").status_code == 200
    assert is_live(alice.signed_in.access_token)


def test_an_address_that_an_operator_calls_unverified_is_shown_anew(
    google: RunningSimulator, alice: Persona
) -> None:
    token = mailed_token("/verify-email")
    User.objects.filter(pk=alice.user.pk).update(email_verified=False, verified_by_holder=True)
    verification.verify_email(token=token, signed_in=None)
    sign_in(google, email="alice@example.com")
    assert not is_live(alice.signed_in.access_token)


def test_an_account_whose_password_was_set_by_mail_is_linked(
    google: RunningSimulator, alice: Persona
) -> None:
    passwords.request_reset(email="alice@example.com")
    passwords.reset_password(token=mailed_token("/reset-password"), password=PASSWORD)
    signed_in = sessions.sign_in(email="alice@example.com", password=PASSWORD)
    assert sign_in(google, email="alice@example.com").status_code == 200
    assert is_live(signed_in.access_token)


def test_who_gets_an_address_later_does_not_get_its_account(
    google: RunningSimulator, alice: Persona
) -> None:
    verify(alice)
    assert sign_in(google, email="alice@example.com", sub="the first").status_code == 200

    response = sign_in(google, email="alice@example.com", sub="her successor")

    assert response.status_code == 403
    assert "another Google account" in response.json()["detail"]
    assert [identity.subject for identity in alice.user.identities.all()] == ["the first"]


@pytest.mark.parametrize("by_mail_before", [True, False])
def test_who_gets_an_address_that_an_operator_calls_unverified_gets_its_account(
    google: RunningSimulator, alice: Persona, by_mail_before: bool
) -> None:
    verify(alice)
    holder = {"email": "alice@example.com", "sub": "the first"}
    assert sign_in(google, **holder).status_code == 200
    User.objects.filter(pk=alice.user.pk).update(email_verified=False)

    if by_mail_before:
        passwords.request_reset(email="alice@example.com")
        passwords.reset_password(token=mailed_token("/reset-password"), password=PASSWORD)
    response = sign_in(google, email="alice@example.com", sub="her successor")

    assert response.json()["user"]["id"] == str(alice.user.pk)
    assert [identity.subject for identity in alice.user.identities.all()] == ["her successor"]
    assert sign_in(google, **holder).status_code == 403


def test_nobody_lies_in_wait_in_an_account_that_was_never_verified(
    google: RunningSimulator, alice: Persona
) -> None:
    key, _ = api_keys.create_key(user=alice.user, name="mine")
    EmailedToken.objects.create(
        user=alice.user, purpose="verify_email", digest=b"d" * 32, expires_at=timezone.now()
    )
    LinkedIdentity.objects.create(user=alice.user, issuer="https://other.example.com", subject="1")
    response = sign_in(google, email="alice@example.com")
    assert response.status_code == 200
    assert response.json()["user"]["id"] == str(alice.user.pk)
    assert response.json()["user"]["email_verified"] is True
    assert is_live(response.json()["access_token"])
    assert can_refresh(response.json()["refresh_token"])

    assert not is_live(alice.signed_in.access_token)
    assert not can_refresh(alice.signed_in.refresh_token)
    assert not can_log_in("alice@example.com")
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None
    assert not EmailedToken.objects.exists()
    assert not OutgoingEmail.objects.filter(address="alice@example.com", ended_at=None).exists()
    assert LinkedIdentity.objects.get().issuer != "https://other.example.com"


def test_it_is_taken_over_once(google: RunningSimulator, alice: Persona) -> None:
    first = sign_in(google, email="alice@example.com").json()
    assert sign_in(google, email="alice@example.com").status_code == 200
    assert sign_in(google, email="alice@example.com", sub="2").status_code == 403
    assert is_live(first["access_token"])


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize(("status", "expected"), [("suspended", 403), ("deactivated", 401)])
def test_an_account_that_is_not_open_is_not_linked(
    google: RunningSimulator, alice: Persona, status: str, expected: int, verified: bool
) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=status, email_verified=verified)
    assert sign_in(google, email="alice@example.com").status_code == expected
    assert not LinkedIdentity.objects.exists()
    user = User.objects.get(pk=alice.user.pk)
    assert (user.email_verified, user.check_password(PASSWORD)) == (verified, True)


@pytest.mark.django_db
@pytest.mark.parametrize(("status", "expected"), [("suspended", 403), ("deactivated", 401)])
def test_a_known_identity_does_not_open_a_closed_account(
    google: RunningSimulator, status: str, expected: int
) -> None:
    sign_in(google)
    User.objects.update(status=status)
    response = sign_in(google)
    assert response.status_code == expected
    assert response.json().keys() == {"detail", "code"}


# --- What is sent --------------------------------------------------------------------------------


@pytest.mark.django_db
def test_every_bad_token_is_refused_with_one_text(google: RunningSimulator) -> None:
    bad = [
        "x",
        "x" * 100_000,
        google.id_token(key="foreign"),
        google.id_token(header={"alg": "none"}),
        google.id_token(claims={"exp": int(time.time()) - 60}),
        google.id_token(claims={"aud": "somebody-else"}),
    ]
    answers = [send(token) for token in bad]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer.json()["detail"] for answer in answers} == {
        "The ID token is invalid or expired. Sign in with Google again."
    }


@pytest.mark.parametrize("token", [None, 5, "", [], {}])
def test_the_token_is_text(db: None, token: Any) -> None:
    assert send(token).status_code == 422


@pytest.mark.django_db
def test_our_own_tokens_are_none_of_google(google: RunningSimulator, alice: Persona) -> None:
    assert send(alice.signed_in.access_token).status_code == 401


@pytest.mark.django_db
def test_a_stale_token_in_the_header_does_not_stand_in_the_way(google: RunningSimulator) -> None:
    client = APIClient(HTTP_AUTHORIZATION="Bearer stale")
    response = client.post(URL, {"id_token": google.id_token()}, format="json")
    assert response.status_code == 200


@pytest.mark.django_db
def test_where_google_is_not_set_up_that_is_said(
    google: RunningSimulator, settings: Settings
) -> None:
    settings.GOOGLE_CLIENT_IDS = []
    response = sign_in(google)
    assert response.status_code == 503
    assert "not set up" in response.json()["detail"]


@pytest.mark.django_db
def test_where_google_cannot_be_asked_one_may_come_again(
    google: RunningSimulator, settings: Settings
) -> None:
    settings.GOOGLE_JWKS_URL = f"http://127.0.0.1:{free_port()}/"
    response = sign_in(google)
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert "Try again" in response.json()["detail"]


def test_the_service_signs_in_with_google(
    web: Web, simulator: RunningSimulator, committed: None
) -> None:
    email = f"new-{uuid.uuid4()}@example.com"
    token = simulator.id_token(claims={"email": email})
    answer = httpx.post(f"{web.url}{URL}", json={"id_token": token})
    assert answer.status_code == 200
    assert answer.json()["user"]["email"] == email
    token = simulator.id_token(claims={"email": email, "aud": "somebody-else"})
    assert httpx.post(f"{web.url}{URL}", json={"id_token": token}).status_code == 401


# --- With one token ------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("jti", ["1", None])
def test_a_token_signs_in_once(google: RunningSimulator, jti: str | None) -> None:
    token = google.id_token(claims=NEW | {"jti": jti})
    assert send(token).status_code == 200
    replayed = send(token)
    assert (replayed.status_code, replayed.json()["code"]) == (401, "id_token_used")
    assert send(google.id_token(claims=NEW | {"jti": "another"})).status_code == 200


@pytest.mark.django_db
def test_a_token_that_signed_nobody_in_may_be_sent_again(google: RunningSimulator) -> None:
    sign_in(google)
    token = google.id_token(claims=NEW)
    User.objects.update(status=User.Status.SUSPENDED)
    assert send(token).status_code == 403
    User.objects.update(status=User.Status.ACTIVE)
    assert send(token).status_code == 200


def test_a_token_that_is_sent_five_times_at_once_signs_in_once(
    google: RunningSimulator, committed: None
) -> None:
    token = google.id_token(claims=NEW | {"sub": uuid.uuid4().hex, "email": "once@example.com"})

    def once(_: int) -> int:
        try:
            return int(send(token).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(once, range(5))) == [200, 401, 401, 401, 401]


@pytest.mark.django_db
def test_a_nonce_binds_a_token_to_the_page_that_asked_for_it(google: RunningSimulator) -> None:
    token = google.id_token(claims=NEW | {"nonce": "of this page"})

    def send_with(nonce: Any) -> Any:
        return APIClient().post(URL, {"id_token": token, "nonce": nonce}, format="json")

    wrong = send_with("of another page")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "invalid_id_token")
    assert [send_with(nonce).status_code for nonce in ("", 5, None, "n" * 256)] == [422] * 4
    assert send_with("of this page").status_code == 200


@pytest.mark.django_db
def test_used_tokens_are_forgotten_when_they_are_too_old_to_be_taken(
    google: RunningSimulator,
) -> None:
    sign_in(google)
    tasks.purge_expired()
    assert UsedIdToken.objects.count() == 1
    UsedIdToken.objects.update(expires_at=timezone.now())
    tasks.purge_expired()
    assert UsedIdToken.objects.count() == 0
