"""POST /api/auth/refresh"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import tasks
from accounts.errors import InvalidToken
from accounts.models import User, UserSession
from accounts.services import sessions, users
from accounts.types import SignedIn
from common.ids import uuid7
from conftest import Persona, persona
from tests.locks import wait_until_blocked

URL = "/api/auth/refresh"


def refresh(token: Any) -> Any:
    return APIClient().post(URL, {"refresh_token": token}, format="json")


def age(persona: Persona, **since: float) -> None:
    """Let the last rotation of the persona's tokens lie that long ago."""
    families = UserSession.objects.filter(account=persona.user)
    families.update(rotated_at=timezone.now() - timedelta(**since))


def test_it_answers_a_new_pair_that_works(alice: Persona, visitor: APIClient) -> None:
    response = refresh(alice.signed_in.refresh_token)
    assert response.status_code == 200
    body = response.json()
    assert body.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    assert body["refresh_token"] != alice.signed_in.refresh_token
    visitor.credentials(HTTP_AUTHORIZATION=f"Bearer {body['access_token']}")
    assert visitor.get("/api/auth/me").json() == body["user"]
    assert refresh(body["refresh_token"]).status_code == 200


@pytest.mark.django_db
def test_the_refresh_token_lives_for_thirty_days(alice: Persona) -> None:
    claims = jwt.decode(alice.signed_in.refresh_token, options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 30 * 24 * 3600


def test_within_the_grace_the_same_token_gets_the_same_successor(alice: Persona) -> None:
    first = refresh(alice.signed_in.refresh_token).json()
    age(alice, seconds=25)
    successor = refresh(alice.signed_in.refresh_token)
    assert successor.status_code == 200
    ids = [
        jwt.decode(token, options={"verify_signature": False})["jti"]
        for token in (first["refresh_token"], successor.json()["refresh_token"])
    ]
    assert ids[0] == ids[1]


def test_the_same_successor_is_the_same_text(alice: Persona) -> None:
    first = refresh(alice.signed_in.refresh_token).json()["refresh_token"]
    assert refresh(alice.signed_in.refresh_token).json()["refresh_token"] == first


def test_after_the_grace_reuse_revokes_the_family(alice: Persona) -> None:
    successor = refresh(alice.signed_in.refresh_token).json()["refresh_token"]
    age(alice, seconds=31)
    assert refresh(alice.signed_in.refresh_token).status_code == 401
    assert refresh(successor).status_code == 401


def test_reuse_ends_the_access_tokens_of_the_family_at_once(alice: Persona) -> None:
    thief = APIClient()
    pair = refresh(alice.signed_in.refresh_token).json()
    thief.credentials(HTTP_AUTHORIZATION=f"Bearer {pair['access_token']}")
    assert thief.get("/api/auth/me").status_code == 200
    age(alice, seconds=31)
    refresh(alice.signed_in.refresh_token)
    assert thief.get("/api/auth/me").status_code == 401
    assert alice.client.get("/api/auth/me").status_code == 401


def test_a_session_ends_after_ninety_days_however_often_it_is_refreshed(alice: Persona) -> None:
    of_alice = UserSession.objects.filter(account=alice.user)
    almost = timedelta(days=89, hours=23, minutes=50)
    of_alice.update(created_at=timezone.now() - almost)

    pair = refresh(alice.signed_in.refresh_token).json()
    assert 590 < pair["expires_in"] <= 600
    for name in ("access_token", "refresh_token"):
        claims = jwt.decode(pair[name], options={"verify_signature": False})
        assert 590 < claims["exp"] - claims["iat"] <= 600

    of_alice.update(created_at=timezone.now() - timedelta(days=90))
    answer = refresh(pair["refresh_token"])
    assert answer.status_code == 401
    assert "Sign in again" in answer.json()["detail"]
    assert not of_alice.exists()


def test_sessions_that_are_as_old_as_one_may_be_are_deleted(alice: Persona, bob: Persona) -> None:
    ninety_days_ago = timezone.now() - timedelta(days=90)
    UserSession.objects.filter(account=alice.user).update(
        id=uuid7(ninety_days_ago), created_at=ninety_days_ago
    )
    tasks.purge_expired()
    assert not UserSession.objects.filter(account=alice.user).exists()
    assert UserSession.objects.filter(account=bob.user).exists()


def test_the_grace_is_not_for_a_grandparent(alice: Persona) -> None:
    parent = refresh(alice.signed_in.refresh_token).json()["refresh_token"]
    child = refresh(parent).json()["refresh_token"]
    assert refresh(alice.signed_in.refresh_token).status_code == 401
    assert refresh(child).status_code == 401


def test_reuse_leaves_the_other_sign_ins_of_the_user_alone(alice: Persona) -> None:
    elsewhere = sessions.sign_in(email="alice@example.com", password=alice.password)
    refresh(alice.signed_in.refresh_token)
    age(alice, seconds=31)
    refresh(alice.signed_in.refresh_token)
    assert refresh(elsewhere.refresh_token).status_code == 200


def test_an_access_token_is_not_a_refresh_token(alice: Persona) -> None:
    assert refresh(alice.signed_in.access_token).status_code == 401


def test_the_version_counts_for_refresh_tokens_too(alice: Persona) -> None:
    User.objects.filter(pk=alice.user.pk).update(token_version=2)
    assert refresh(alice.signed_in.refresh_token).status_code == 401


@pytest.mark.parametrize(("status", "expected"), [("suspended", 403), ("deactivated", 401)])
def test_an_account_that_is_not_active_gets_no_tokens(
    alice: Persona, status: str, expected: int
) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=status)
    assert refresh(alice.signed_in.refresh_token).status_code == expected


@pytest.mark.parametrize("token", ["", None, 5, [], {}])
def test_the_token_is_text(db: None, token: Any) -> None:
    assert refresh(token).status_code == 422


@pytest.mark.parametrize("token", ["x", "a.b.c", "é.é.é", "." * 1000, "x" * 100_000])
def test_garbage_is_401(db: None, token: str) -> None:
    assert refresh(token).status_code == 401


def test_sign_ins_that_have_expired_are_deleted(alice: Persona, bob: Persona) -> None:
    age(alice, days=30, seconds=1)
    age(bob, days=29, hours=23)
    tasks.purge_expired()
    assert not UserSession.objects.filter(account=alice.user).exists()
    assert refresh(bob.signed_in.refresh_token).status_code == 200


def test_an_account_has_fifty_sign_ins_and_keeps_those_in_use(alice: Persona, bob: Persona) -> None:
    age(alice, seconds=1)
    with transaction.atomic():
        unused = sessions.open_session(alice.user)
        others = [sessions.open_session(alice.user) for _ in range(sessions.MAX_SESSIONS - 2)]
    assert refresh(alice.signed_in.refresh_token).status_code == 200

    sessions.sign_in(email="alice@example.com", password=alice.password)

    assert UserSession.objects.filter(account=alice.user).count() == sessions.MAX_SESSIONS
    assert refresh(unused.refresh_token).status_code == 401
    for signed_in in (others[0], others[-1], alice.signed_in, bob.signed_in):
        assert refresh(signed_in.refresh_token).status_code == 200


def test_a_sign_in_beside_a_refresh_does_not_end_what_is_refreshed(committed: None) -> None:
    """Though it was the one that had been used least lately, and one too many."""
    alice = persona(f"alice-{uuid.uuid4()}")
    with transaction.atomic():
        for _ in range(sessions.MAX_SESSIONS - 1):
            sessions.open_session(alice.user)

    def sign_in() -> None:
        try:
            sessions.sign_in(email=alice.user.email, password=alice.password)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            refreshed = sessions.refresh(refresh_token=alice.signed_in.refresh_token)
            signing_in = pool.submit(sign_in)
            wait_until_blocked(connection.connection)
        signing_in.result()

    assert refresh(refreshed.refresh_token).status_code == 200


def test_sign_ins_at_once_do_not_pass_the_limit_together(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")
    now = timezone.now()
    UserSession.objects.bulk_create(
        UserSession(account=alice.user, rotated_at=now) for _ in range(sessions.MAX_SESSIONS)
    )

    def sign_in(_: int) -> None:
        sessions.sign_in(email=alice.user.email, password=alice.password)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(sign_in, range(8)))
    assert UserSession.objects.filter(account=alice.user).count() == sessions.MAX_SESSIONS


def test_parallel_refreshes_give_one_lineage(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")

    def once() -> SignedIn:
        try:
            return sessions.refresh(refresh_token=alice.signed_in.refresh_token)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        with transaction.atomic():
            UserSession.objects.select_for_update().get(account=alice.user)
            answers = [pool.submit(once) for _ in range(3)]
            wait_until_blocked(connection.connection, 3)
        successors = {answer.result().refresh_token for answer in answers}
    assert len(successors) == 1
    assert refresh(successors.pop()).status_code == 200


def test_a_refresh_beside_a_logout_leaves_no_live_token(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")

    def rotate() -> SignedIn | None:
        try:
            return sessions.refresh(refresh_token=alice.signed_in.refresh_token)
        except InvalidToken:
            return None
        finally:
            connection.close()

    def leave() -> None:
        users.revoke_sessions(user=alice.user)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        refreshed, left = pool.submit(rotate), pool.submit(leave)
        left.result()
    if (answer := refreshed.result()) is not None:
        assert refresh(answer.refresh_token).status_code == 401
        client = APIClient(HTTP_AUTHORIZATION=f"Bearer {answer.access_token}")
        assert client.get("/api/auth/me").status_code == 401
