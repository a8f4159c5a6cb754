"""POST /api/auth/forgot-password"""

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import OutgoingEmail, User
from accounts.services import passwords
from accounts.tests.hashing import counted_hashes
from accounts.tests.mailbox import delivered, token_in
from conftest import Persona
from tests.locks import wait_until_blocked

URL = "/api/auth/forgot-password"
SUBJECT = "Choose a new password"


def forgot(email: Any = "alice@example.com") -> Any:
    return APIClient().post(URL, {"email": email}, format="json")


def resets(address: str = "alice@example.com") -> list[Any]:
    return [message for message in delivered(address) if SUBJECT in message.subject]


def test_a_mail_with_a_token_is_sent(alice: Persona) -> None:
    response = forgot()
    assert response.status_code == 202
    assert response.json().keys() == {"detail"}
    [message] = resets()
    assert len(token_in(message)) == 43


def test_no_answer_tells_whether_there_is_an_account(alice: Persona, bob: Persona) -> None:
    User.objects.filter(pk=bob.user.pk).update(status=User.Status.SUSPENDED)
    answers = [forgot(f"{name}@example.com") for name in ("alice", "bob", "nobody")]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1


def statements(email: str) -> list[str]:
    """The statements of one request, without their values."""
    with CaptureQueriesContext(connection) as queries, counted_hashes() as hashed:
        forgot(email)
    assert hashed == []
    return [re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries]


def test_the_work_is_the_same_for_known_and_unknown_addresses(alice: Persona) -> None:
    assert statements("alice@example.com") == statements("nobody@example.com")


@pytest.mark.parametrize("status", [User.Status.SUSPENDED, User.Status.DEACTIVATED])
def test_an_account_that_is_not_active_gets_no_mail(alice: Persona, status: str) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=status)
    forgot()
    assert delivered() == []


def test_an_unknown_address_gets_no_mail(db: None) -> None:
    forgot("nobody@example.com")
    assert delivered("nobody@example.com") == []
    assert not OutgoingEmail.objects.filter(address="nobody@example.com", ended_at=None).exists()


def test_case_and_spaces_of_the_address_do_not_matter(alice: Persona) -> None:
    assert forgot(" Alice@Example.COM ").status_code == 202
    assert len(resets()) == 1


def test_an_hour_has_three_mails(alice: Persona) -> None:
    assert {forgot().status_code for _ in range(5)} == {202}
    assert len(resets()) == 3
    hour_ago = timezone.now() - timedelta(hours=1)
    OutgoingEmail.objects.filter(address="alice@example.com").update(created_at=hour_ago)
    forgot()
    assert len(resets()) == 4


def test_requests_at_once_do_not_pass_the_limit(committed: None) -> None:
    address = f"{uuid.uuid4()}@example.com"

    def elsewhere() -> None:
        passwords.request_reset(email=address)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            passwords.request_reset(email=address)
            others = [pool.submit(elsewhere) for _ in range(2)]
            wait_until_blocked(connection.connection, 2)
            passwords.request_reset(email=address)
        for other in others:
            other.result()
    assert OutgoingEmail.objects.filter(address=address).count() == 3


def test_a_stale_token_in_the_header_does_not_stand_in_the_way(alice: Persona) -> None:
    client = APIClient(HTTP_AUTHORIZATION="Bearer stale")
    assert client.post(URL, {"email": "alice@example.com"}, format="json").status_code == 202


@pytest.mark.parametrize(
    "email",
    [
        None,
        "",
        5,
        ["alice@example.com"],
        "alice",
        "a" * 250 + "@example.com",
        "a@" + ".".join(["İ" * 60] * 4) + ".com",  # in lower case twice as long
    ],
)
def test_what_is_no_address_is_named(db: None, email: Any) -> None:
    response = forgot(email)
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"][0] == "email"
