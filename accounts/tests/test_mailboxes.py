"""How many accounts and mails one mailbox, or one network, can have made."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import tasks
from accounts.addresses import mailbox_of
from accounts.models import OutgoingEmail, User
from accounts.services import users, verification
from accounts.services.account_emails import AccountEmail
from accounts.tests.mailbox import mailed_token
from conftest import PASSWORD, Persona

pytestmark = pytest.mark.django_db

ALIASES = [
    "dora.doe@gmail.com",
    "doradoe@googlemail.com",
    *(f"d.oradoe+{n}@gmail.com" for n in range(6)),
]


def sign_up(email: str, ip: str = "198.51.100.1") -> Any:
    body = {"email": email, "password": PASSWORD}
    return APIClient(REMOTE_ADDR=ip).post("/api/auth/signup", body, format="json")


def forgot(email: str, ip: str = "198.51.100.1") -> int:
    client = APIClient(REMOTE_ADDR=ip)
    return client.post("/api/auth/forgot-password", {"email": email}, format="json").status_code


def to_aliases() -> list[str]:
    """The aliases that mails were sent to."""
    return [each.to[0] for each in mail.outbox if each.to[0] in ALIASES]


def mails_of(kind: str = AccountEmail.RESET_PASSWORD) -> int:
    return OutgoingEmail.objects.filter(kind=kind).count()


@pytest.mark.parametrize(
    ("address", "mailbox"),
    [
        ("Alice@Example.com", "alice@example.com"),
        ("alice+news@example.com", "alice@example.com"),
        ("alice+a+b@example.com", "alice@example.com"),
        ("a.lice@example.com", "a.lice@example.com"),
        ("A.l.i.c.e+x@gmail.com", "alice@gmail.com"),
        ("a.lice@googlemail.com", "alice@gmail.com"),
        ("+x@example.com", "+x@example.com"),
        ("...@gmail.com", "...@gmail.com"),
        ("No address ", "no address"),
    ],
)
def test_the_mailbox_of_an_address(address: str, mailbox: str) -> None:
    assert mailbox_of(address) == mailbox


@given(st.text(max_size=300))
def test_any_text_has_a_mailbox_of_which_it_is_an_alias(text: str) -> None:
    assert mailbox_of(mailbox_of(text)) == mailbox_of(text)
    assert len(mailbox_of(text)) <= len(text.lower())


def test_an_account_knows_its_mailbox_and_keeps_it_when_it_is_closed(db: None) -> None:
    user = User.objects.create_user("Do.ra+1@gmail.com")
    assert User.objects.get(pk=user.pk).mailbox == "dora@gmail.com"
    users.deactivate(user=user)
    closed = User.objects.get(pk=user.pk)
    assert (closed.mailbox, closed.email == "do.ra+1@gmail.com") == ("dora@gmail.com", False)


def test_a_mailbox_makes_five_accounts_a_day_and_each_gets_its_first_mail(db: None) -> None:
    answers = [sign_up(alias, f"198.51.{n}.1") for n, alias in enumerate(ALIASES)]
    assert [each.status_code for each in answers] == [201] * 5 + [429] * 3
    assert answers[-1].json()["code"] == "too_many_signups"
    assert int(answers[-1]["Retry-After"]) > 0
    tasks.send_emails()
    assert sorted(to_aliases()) == sorted(ALIASES[:5])
    assert sign_up("dora.doe@example.com").status_code == 201
    User.objects.update(created_at=F("created_at") - timedelta(days=1))
    assert sign_up(ALIASES[-1]).status_code == 201


def test_strangers_who_sign_up_with_aliases_do_not_keep_the_owner_from_it(db: None) -> None:
    for n in range(6):
        sign_up(f"dora+{n}@example.com", f"198.51.{n}.1")
    assert sign_up("dora@example.com").status_code == 201


def test_closing_accounts_gives_a_mailbox_no_further_sign_ups(db: None) -> None:
    codes = []
    for n in range(7):
        answer = sign_up("dora@gmail.com", f"198.51.{n}.1")
        codes.append(answer.status_code)
        if answer.status_code == 201:
            User.objects.filter(email="dora@gmail.com").update(email_verified=True)
            users.deactivate(user=User.objects.get(email="dora@gmail.com"))
    assert codes == [201] * 5 + [429] * 2


def test_a_taken_address_is_told_as_before(alice: Persona) -> None:
    assert sign_up("alice@example.com").status_code == 409


@pytest.mark.parametrize(
    ("neighbour", "stranger"),
    [
        ("198.51.100.{n}", "198.51.101.1"),
        ("2001:db8:1:{n}::1", "2001:db8:2::1"),
    ],
)
def test_a_network_makes_so_many_accounts_a_day(
    db: None, settings: Settings, neighbour: str, stranger: str
) -> None:
    settings.MAX_SIGN_UPS_PER_NETWORK = 3
    codes = [
        sign_up(f"dora-{n}@example.com", neighbour.format(n=n)).status_code for n in range(1, 6)
    ]
    assert codes == [201] * 3 + [429] * 2
    assert sign_up("emil@example.com", stranger).status_code == 201


def test_requests_for_aliases_do_not_keep_back_the_owners_reset_mail(alice: Persona) -> None:
    assert {forgot(f"alice+{n}@example.com", f"198.51.{n}.1") for n in range(9)} == {202}
    tasks.send_emails()
    assert forgot("alice@example.com") == 202
    assert mailed_token("/reset-password")


def test_accounts_of_aliases_do_not_keep_back_the_owners_mails(alice: Persona) -> None:
    OutgoingEmail.objects.all().delete()
    for n in range(3):
        stranger = User.objects.create_user(f"alice+{n}@example.com")
        for _ in range(3):
            verification.request_verification(user=stranger)
            forgot(stranger.email, f"198.51.{n}.1")
    tasks.send_emails()
    forgot("alice@example.com")
    alice.client.post("/api/auth/verify-email/resend")
    assert mailed_token("/reset-password")
    assert mailed_token("/verify-email")


def test_a_full_mailbox_gets_one_mail_an_hour_for_each_account(db: None) -> None:
    for alias in ALIASES[:5]:
        User.objects.create_user(alias)
    for n, alias in enumerate([*ALIASES[:5], *ALIASES[:5], *ALIASES[:5], *ALIASES[:5]]):
        assert forgot(alias, f"198.51.{n}.1") == 202
    tasks.send_emails()
    assert sorted(to_aliases()) == sorted(ALIASES[:5])
    OutgoingEmail.objects.update(created_at=F("created_at") - timedelta(hours=1))
    forgot(ALIASES[0])
    tasks.send_emails()
    assert len(to_aliases()) == 6


def test_a_network_is_told_when_it_has_asked_for_too_many_reset_mails(
    db: None, settings: Settings
) -> None:
    settings.MAX_EMAILS_PER_NETWORK = 4
    codes = [forgot(f"dora-{n}@example.com", f"198.51.100.{n}") for n in range(9)]
    assert (codes, mails_of()) == ([202] * 4 + [429] * 5, 4)
    assert forgot("emil@example.com", "203.0.113.1") == 202
    assert mails_of() == 5


def test_an_alias_of_a_stranger_does_not_keep_back_what_the_owner_is_told(alice: Persona) -> None:
    for n in range(5):
        for _ in range(5):
            APIClient(REMOTE_ADDR=f"198.51.{n}.1").post(
                "/api/auth/login",
                {"email": f"alice+{n}@example.com", "password": "wrong"},
                format="json",
            )
    body = {"current_password": PASSWORD, "new_password": "a wholly different phrase"}
    assert alice.client.post("/api/auth/change-password", body, format="json").status_code == 200
    assert mails_of(AccountEmail.PASSWORD_CHANGED) == 1
