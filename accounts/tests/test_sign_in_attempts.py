"""What is known of a request, before Django has it, that has a password hashed."""

import asyncio
import json
import uuid
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from accounts.models import KnownClient, User
from accounts.services import known_clients
from accounts.sign_in_attempts import read_attempt
from accounts.types import Client
from common.database import get_database
from server.hash_turns import Attempt
from tests.personas import authorization, new_user

pytestmark = pytest.mark.usefixtures("committed")

HOME, ELSEWHERE = "198.51.100.1", "203.0.113.9"
DEVICE = uuid.uuid4()


@pytest.fixture
def alice() -> User:
    alice = new_user("alice")
    known_clients.remember(user=alice, client=Client(HOME, device_id=DEVICE))
    return alice


@pytest.fixture
def token(alice: User) -> dict[str, str]:
    return authorization(alice)


def scope(ip: str, path: str = "/api/auth/login", **headers: str) -> dict[str, Any]:
    fields = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "path": path, "client": (ip, 1), "headers": fields}


async def attempt_of(body: Any, ip: str = HOME, **of_scope: str) -> Attempt:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        return await read_attempt(scope(ip, **of_scope), content)
    finally:
        await get_database().close()


async def test_a_client_is_known_by_its_address_or_by_its_device(alice: User) -> None:
    email = f" {alice.email.upper()} "
    at_home = await attempt_of({"email": email})
    assert at_home == Attempt(HOME, alice.email, is_known=True)
    abroad = await attempt_of({"email": email, "device_id": str(DEVICE).upper()}, ELSEWHERE)
    assert abroad == Attempt(ELSEWHERE, alice.email, is_known=True)
    for device in (str(uuid.uuid4()), "mine", 5, None):
        stranger = await attempt_of({"email": email, "device_id": device}, ELSEWHERE)
        assert stranger == Attempt(ELSEWHERE, alice.email)
    assert await attempt_of({"email": "bob@example.com"}) == Attempt(HOME, "bob@example.com")


async def test_many_attempts_at_the_same_time_are_told_apart(alice: User) -> None:
    guesses = [json.dumps({"email": f"{number}@example.com"}).encode() for number in range(150)]
    bodies = [*guesses[:75], json.dumps({"email": alice.email}).encode(), *guesses[75:]]
    try:
        attempts = await asyncio.gather(*(read_attempt(scope(HOME), body) for body in bodies))
    finally:
        await get_database().close()
    assert [each.account for each in attempts if each.is_known] == [alice.email]


async def test_a_client_is_known_for_ninety_days(alice: User) -> None:
    long_ago = timezone.now() - known_clients.KNOWN_FOR
    await KnownClient.objects.aupdate(seen_at=long_ago)
    assert await attempt_of({"email": alice.email}) == Attempt(HOME, alice.email)


async def test_the_form_of_the_admin_names_the_account_too(alice: User) -> None:
    form = urlencode({"username": alice.email, "password": "x", "csrfmiddlewaretoken": "y"})
    known = await attempt_of(form.encode(), path="/admin/login/")
    assert known == Attempt(HOME, alice.email, is_known=True)


async def test_who_has_a_token_is_known_wherever_they_are(
    alice: User, token: dict[str, str]
) -> None:
    body = {"current_password": "x", "new_password": "y"}
    path = "/api/auth/change-password"
    known = await attempt_of(body, ELSEWHERE, path=path, **token)
    assert known == Attempt(ELSEWHERE, str(alice.pk), is_known=True)
    forged = await attempt_of(body, ELSEWHERE, path=path, Authorization="Bearer a.b.c")
    assert forged == Attempt(ELSEWHERE)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"5",
        b"[" * 10_000,
        b'{"email": 5}',
        b'{"email": ["a"]}',
        b'{"email": ""}',
        b'{"email": "' + b"a" * 20_000 + b'"}',
    ],
)
async def test_what_names_no_account_is_an_attempt_of_its_address(alice: User, body: bytes) -> None:
    assert await attempt_of(body) == Attempt(HOME)


async def test_a_long_name_is_counted_by_as_much_of_it_as_an_account_can_have(
    alice: User,
) -> None:
    assert await attempt_of({"email": "a" * 10_000}) == Attempt(HOME, "a" * 254)
