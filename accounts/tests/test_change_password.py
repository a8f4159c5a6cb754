"""POST /api/auth/change-password"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from accounts.errors import InvalidCredentials, InvalidToken
from accounts.models import SignInFailures, User
from accounts.services import lockout, passwords, sessions, users
from accounts.tests.hashing import counted_hashes
from accounts.tests.mailbox import delivered, mailed_token
from common.errors import ValidationFailed
from conftest import PASSWORD, Persona, persona
from tests.locks import wait_until_blocked

URL = "/api/auth/change-password"
NEW = "a wholly different phrase"


def change(alice: Persona, current: Any = PASSWORD, new: Any = NEW) -> Any:
    body = {"current_password": current, "new_password": new}
    return alice.client.post(URL, body, format="json")


def make_operator(alice: Persona) -> None:
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)


def can_sign_in(password: str, email: str = "alice@example.com") -> bool:
    try:
        sessions.sign_in(email=email, password=password)
    except InvalidCredentials:
        return False
    return True


def test_it_answers_a_new_pair_that_works(alice: Persona, visitor: APIClient) -> None:
    response = change(alice)
    assert response.status_code == 200
    body = response.json()
    assert body.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    visitor.credentials(HTTP_AUTHORIZATION=f"Bearer {body['access_token']}")
    assert visitor.get("/api/auth/me").json() == body["user"]
    refreshed = {"refresh_token": body["refresh_token"]}
    assert visitor.post("/api/auth/refresh", refreshed, format="json").status_code == 200


def test_the_new_password_counts_and_the_old_one_does_not(alice: Persona) -> None:
    change(alice)
    assert can_sign_in(NEW)
    assert not can_sign_in(PASSWORD)


def test_every_earlier_session_ends(alice: Persona, visitor: APIClient) -> None:
    elsewhere = sessions.sign_in(email="alice@example.com", password=PASSWORD)
    change(alice)
    assert alice.client.get("/api/auth/me").status_code == 401
    for signed_in in (alice.signed_in, elsewhere):
        body = {"refresh_token": signed_in.refresh_token}
        assert visitor.post("/api/auth/refresh", body, format="json").status_code == 401


def test_the_user_is_told(alice: Persona) -> None:
    change(alice)
    assert "Your password was changed" in delivered()[0].subject


def test_a_reset_token_from_before_is_void(alice: Persona, visitor: APIClient) -> None:
    passwords.request_reset(email="alice@example.com")
    token = mailed_token("/reset-password")
    change(alice)
    body = {"token": token, "password": "a thief's own phrase"}
    assert visitor.post("/api/auth/reset-password", body, format="json").status_code == 422


def test_a_wrong_password_is_named_and_nothing_changes(alice: Persona) -> None:
    response = change(alice, current="wrong password")
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["current_password"]
    assert can_sign_in(PASSWORD)
    assert alice.client.get("/api/auth/me").status_code == 200


def test_an_operators_password_cannot_be_guessed_in_a_stolen_session(alice: Persona) -> None:
    make_operator(alice)
    for _ in range(lockout.FAILURES_PER_CLIENT):
        assert change(alice, current="wrong password").status_code == 422
    response = change(alice)
    assert response.status_code == 429
    assert response.json()["detail"] == "Too many attempts failed. Try again in 15 minutes."
    assert 890 < int(response["Retry-After"]) <= 900
    assert can_sign_in(PASSWORD)  # from elsewhere


def test_who_is_locked_out_costs_no_hash(alice: Persona) -> None:
    make_operator(alice)
    for _ in range(lockout.FAILURES_PER_CLIENT):
        change(alice, current="wrong password")
    with counted_hashes() as hashed:
        assert change(alice).status_code == 429
    assert hashed == []


def test_the_right_password_of_an_operator_begins_anew(alice: Persona) -> None:
    make_operator(alice)
    change(alice, current="wrong password")
    assert SignInFailures.objects.exists()
    assert change(alice).status_code == 200
    assert not SignInFailures.objects.filter(name__startswith=alice.user.email).exists()


def test_a_weak_new_password_is_no_failure(alice: Persona) -> None:
    make_operator(alice)
    change(alice, new="short")
    assert not SignInFailures.objects.exists()


def test_a_customer_waits_shorter_than_an_operator(alice: Persona) -> None:
    for _ in range(lockout.FAILURES_PER_CLIENT):
        change(alice, current="wrong password")
    response = change(alice)
    assert (response.status_code, response["Retry-After"]) == (429, "30")
    assert response.json()["code"] == "too_many_attempts"


@pytest.mark.parametrize("password", ["short", "12345678901", "password123", "alice@example.com"])
def test_a_weak_password_is_named_before_anything_is_hashed(alice: Persona, password: str) -> None:
    with counted_hashes() as hashed:
        response = change(alice, new=password)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["new_password"]
    assert hashed == []


def test_an_account_without_a_password_is_told_how_to_get_one(alice: Persona) -> None:
    alice.user.set_unusable_password()
    alice.user.save()
    response = change(alice)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["current_password"]
    assert "reset mail" in response.json()["detail"]


def test_it_needs_a_session(visitor: APIClient) -> None:
    body = {"current_password": PASSWORD, "new_password": NEW}
    assert visitor.post(URL, body, format="json").status_code == 401


def test_of_two_changes_at_once_one_wins(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")

    def once(number: int) -> int | None:
        try:
            user = User.objects.get(pk=alice.user.pk)
            user.token_version = 1  # as both requests found it
            new = f"{NEW} {number}"
            passwords.change_password(user=user, current_password=PASSWORD, new_password=new)
        except (InvalidToken, ValidationFailed):
            return None
        finally:
            connection.close()
        return number

    with ThreadPoolExecutor(2) as pool:
        winners = [number for number in pool.map(once, range(2)) if number is not None]
    assert len(winners) == 1
    assert can_sign_in(f"{NEW} {winners[0]}", alice.user.email)
    assert User.objects.get(pk=alice.user.pk).token_version == 2


def test_a_sign_in_meanwhile_does_not_deadlock_with_it(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")
    # Both have a failure to forget.
    assert not can_sign_in("wrong password", alice.user.email)

    def change_it() -> None:
        try:
            passwords.change_password(
                user=User.objects.get(pk=alice.user.pk), current_password=PASSWORD, new_password=NEW
            )
        finally:
            connection.close()

    def sign_in() -> bool:
        try:
            return can_sign_in(PASSWORD, alice.user.email)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            users.lock_user(alice.user)
            changing = pool.submit(change_it)
            wait_until_blocked(connection.connection)
            signing_in = pool.submit(sign_in)
            wait_until_blocked(connection.connection, 2)
        changing.result()
        assert signing_in.result()


def test_a_session_that_was_ended_meanwhile_changes_nothing(alice: Persona) -> None:
    """As if the logout came while the new password was hashed."""
    found = User.objects.get(pk=alice.user.pk)
    alice.client.post("/api/auth/logout")
    with pytest.raises(InvalidToken):
        passwords.change_password(user=found, current_password=PASSWORD, new_password=NEW)
    assert can_sign_in(PASSWORD)


@pytest.mark.parametrize("field", ["current_password", "new_password"])
@pytest.mark.parametrize("value", [None, "", 12345678901234, ["a"], "x" * 1025])
def test_a_wrong_value_is_named(alice: Persona, field: str, value: Any) -> None:
    body = {"current_password": PASSWORD, "new_password": NEW} | {field: value}
    response = alice.client.post(URL, body, format="json")
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"][0] == field
