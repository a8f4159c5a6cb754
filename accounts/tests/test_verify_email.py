"""POST /api/auth/verify-email and /api/auth/verify-email/resend"""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.errors import InvalidEmailedToken
from accounts.models import EmailedToken, User
from accounts.services import passwords, sessions, verification
from accounts.tests.mailbox import delivered, mailed_token
from conftest import Persona, persona

URL = "/api/auth/verify-email"
RESEND = "/api/auth/verify-email/resend"


def verify(token: Any, client: APIClient | None = None) -> Any:
    return (client or APIClient()).post(URL, {"token": token}, format="json")


def is_verified(persona: Persona) -> bool:
    return User.objects.get(pk=persona.user.pk).email_verified


def test_the_mail_of_the_sign_up_verifies_without_a_session(alice: Persona) -> None:
    response = verify(mailed_token("/verify-email"))
    assert response.status_code == 200
    assert response.json() == {"email": "alice@example.com", "email_verified": True}
    assert is_verified(alice)


def test_it_verifies_in_a_session_of_ones_own(alice: Persona) -> None:
    assert verify(mailed_token("/verify-email"), alice.client).status_code == 200
    assert alice.client.get("/api/auth/me").json()["email_verified"] is True


def test_in_a_session_of_somebody_else_nothing_happens(alice: Persona, bob: Persona) -> None:
    token = mailed_token("/verify-email")
    assert verify(token, bob.client).status_code == 422
    assert not is_verified(alice)
    assert not is_verified(bob)
    assert verify(token).status_code == 200


@pytest.mark.parametrize("authorization", ["Bearer stale", "Bearer", "Basic YTpi", "tøken"])
def test_a_stale_or_broken_header_does_not_stand_in_the_way(
    alice: Persona, authorization: str
) -> None:
    client = APIClient(HTTP_AUTHORIZATION=authorization)
    assert verify(mailed_token("/verify-email"), client).status_code == 200


def test_a_session_that_was_ended_counts_as_none(alice: Persona, bob: Persona) -> None:
    bob.client.post("/api/auth/logout")
    assert verify(mailed_token("/verify-email"), bob.client).status_code == 200


def test_a_token_lasts_for_three_days(alice: Persona) -> None:
    token = mailed_token("/verify-email")
    [row] = EmailedToken.objects.filter(user=alice.user)
    lifetime = row.expires_at - timezone.now()
    assert timedelta(days=3, minutes=-1) < lifetime <= timedelta(days=3)
    EmailedToken.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    assert verify(token).status_code == 422


def reset_token(alice: Persona) -> str:
    passwords.request_reset(email="alice@example.com")
    return mailed_token("/reset-password")


def used(alice: Persona) -> str:
    token = mailed_token("/verify-email")
    verify(token)
    return token


def of_an_account_that(**is_now: Any) -> Callable[[Persona], str]:
    def token(alice: Persona) -> str:
        text = mailed_token("/verify-email")
        User.objects.filter(pk=alice.user.pk).update(**is_now)
        return text

    return token


UNUSABLE: dict[str, Callable[[Persona], str]] = {
    "used": used,
    "unknown": lambda alice: "x" * 43,
    "long": lambda alice: "x" * 100_000,
    "not ASCII": lambda alice: "tøken",
    "for another purpose": reset_token,
    "an access token": lambda alice: alice.signed_in.access_token,
    "of a suspended account": of_an_account_that(status="suspended"),
    "of a deactivated account": of_an_account_that(status="deactivated"),
    "of another address": of_an_account_that(email="other@example.com"),
}


@pytest.mark.parametrize("cause", UNUSABLE)
def test_a_token_that_cannot_be_used_is_refused_in_the_same_words(
    alice: Persona, cause: str
) -> None:
    response = verify(UNUSABLE[cause](alice))
    assert response.status_code == 422
    problem = InvalidEmailedToken.problem
    assert response.json() == {
        "detail": f"token: {problem}",
        "code": InvalidEmailedToken.code,
        "errors": [{"loc": ["token"], "msg": problem}],
    }


@pytest.mark.parametrize("token", [None, "", 5, [], {}])
def test_a_token_is_text(db: None, token: Any) -> None:
    response = verify(token)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["token"]


def test_of_two_uses_at_once_one_wins(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")
    token = mailed_token("/verify-email", alice.user.email)

    def once(_: int) -> bool:
        try:
            verification.verify_email(token=token, signed_in=None)
        except InvalidEmailedToken:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(once, range(4))) == [False, False, False, True]
    assert is_verified(alice)


# --- Sending the mail again ---------------------------------------------------------------------


def test_another_mail_is_sent_on_request(alice: Persona) -> None:
    first = mailed_token("/verify-email")
    response = alice.client.post(RESEND)
    assert response.status_code == 202
    assert response.json().keys() == {"detail"}
    second = mailed_token("/verify-email")
    assert second != first
    assert verify(first).status_code == 200


def test_using_one_token_voids_the_others(alice: Persona) -> None:
    first = mailed_token("/verify-email")
    alice.client.post(RESEND)
    assert verify(mailed_token("/verify-email")).status_code == 200
    assert verify(first).status_code == 422


def test_an_address_that_is_verified_gets_no_mail(alice: Persona) -> None:
    verify(mailed_token("/verify-email"), alice.client)
    assert alice.client.post(RESEND).status_code == 202
    assert len(delivered()) == 1


def test_who_verified_in_another_browser_may_do_so_again_in_their_session(alice: Persona) -> None:
    verify(mailed_token("/verify-email"))
    alice.client.post(RESEND)
    assert verify(mailed_token("/verify-email"), alice.client).status_code == 200
    alice.client.post(RESEND)
    assert len(delivered()) == 2


def test_an_hour_has_three_mails_and_the_request_looks_the_same(alice: Persona) -> None:
    answers = [alice.client.post(RESEND) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert len(delivered()) == 3


def test_sending_again_needs_a_session(visitor: APIClient) -> None:
    assert visitor.post(RESEND).status_code == 401


def test_who_signs_up_elsewhere_keeps_their_mail(alice: Persona, bob: Persona) -> None:
    """The bound is for each address."""
    for _ in range(5):
        alice.client.post(RESEND)
    sessions.sign_up(email="dora@example.com", password=alice.password)
    assert len(delivered("dora@example.com")) == 1
