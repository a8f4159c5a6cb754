"""Which e-mail addresses accounts may have."""

import pytest
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from accounts.addresses import validate_address
from accounts.models import User
from conftest import PASSWORD

PLAIN = [
    "alice@example.com",
    "Alice.B+tag@sub.example.co.uk",
    "a!#$%&'*+/=?^_`{|}~-@example.com",
    "x@xn--mnchen-3ya.example",
    "1@1.example",
]
OTHER = [
    "",
    "alice",
    "@example.com",
    "alice@",
    "alice@localhost",
    "alice@[127.0.0.1]",
    "alice@[IPv6:::1]",
    '"alice"@example.com',
    '"a b"@example.com',
    '""@example.com',
    '"\x0b1:a"@poison.example',
    '"<img/src=x>"@example.com',
    ".alice@example.com",
    "a..b@example.com",
    "alice@example.com\n",
    "alice @example.com",
    "alice@exam ple.com",
    "alice\x00@example.com",
    "alice@example.com|127.0.0.1",
    "alice@-example.com",
    "é@example.com",
    "\u017f@example.com",  # both are ASCII to whoever ignores case
    "\u212a@example.com",
    "alice@münchen.example",
    "İ" * 250,
]


def is_address(text: str) -> bool:
    try:
        validate_address(text)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("address", PLAIN)
def test_a_plain_address_is_taken(address: str) -> None:
    assert is_address(address)


@pytest.mark.parametrize("address", OTHER)
def test_everything_else_is_refused(address: str) -> None:
    assert not is_address(address)


@pytest.mark.parametrize("path", ["signup", "forgot-password"])
@pytest.mark.parametrize("address", ['"\x0b1:a"@poison.example', '"al\\ice"@example.com', "a@b"])
def test_nobody_signs_up_or_is_written_to_at_another(db: None, path: str, address: str) -> None:
    body = {"email": address, "password": PASSWORD}
    response = APIClient().post(f"/api/auth/{path}", body, format="json")
    assert response.status_code == 422
    assert response.json()["errors"] == [
        {"loc": ["email"], "msg": "Write a plain e-mail address, like name@example.com."}
    ]
    assert not User.objects.exists()


@pytest.mark.parametrize("spelling", ['"alice"@example.com', '"al\\ice"@example.com'])
def test_a_mailbox_has_one_account_however_it_is_quoted(db: None, spelling: str) -> None:
    body = {"email": "alice@example.com", "password": PASSWORD}
    assert APIClient().post("/api/auth/signup", body, format="json").status_code == 201
    body["email"] = spelling
    assert APIClient().post("/api/auth/signup", body, format="json").status_code == 422


def test_an_operator_cannot_be_made_where_the_admin_would_not_let_them_in(db: None) -> None:
    with pytest.raises(CommandError, match="plain e-mail address"):
        call_command("createsuperuser", email="root@localhost", interactive=False)


@given(st.emails() | st.from_regex(validate_address.user_regex).map(lambda u: f"{u}@example.com"))
def test_every_address_that_is_taken_fits_into_a_mail(address: str) -> None:
    if is_address(address):
        text = EmailMessage("Subject", "Text", to=[address]).message().as_string()
        assert "Subject: Subject" in text
