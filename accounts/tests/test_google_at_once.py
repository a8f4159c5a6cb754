"""POST /api/auth/google, while others do something to the same account"""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from accounts import tokens
from accounts.errors import InvalidToken
from accounts.models import ApiKey, LinkedIdentity, User
from accounts.selectors.users import get_live_user
from accounts.services import api_keys, identities, sessions, users
from accounts.types import SignedIn
from conftest import PASSWORD
from simulator.process import RunningSimulator
from tests.locks import wait_until_blocked


def is_live(signed_in: SignedIn) -> bool:
    claims = tokens.read_access(signed_in.access_token)
    try:
        get_live_user(claims)
    except InvalidToken:
        return False
    return True


def at_once(
    google: RunningSimulator, email: str, *, held_up_by: Callable[[], Any], undone: bool = False
) -> list[SignedIn]:
    """Three sign-ins of one new identity that all wait for the end of what `held_up_by` does."""
    subject = uuid.uuid4().hex

    def once() -> SignedIn:
        token = google.id_token(claims={"sub": subject, "email": email})
        try:
            return identities.sign_in_with_google(id_token=token)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        with transaction.atomic():
            held_up_by()
            answers = [pool.submit(once) for _ in range(3)]
            wait_until_blocked(connection.connection, 3)
            transaction.set_rollback(undone)
        signed_in = [answer.result() for answer in answers]
    assert LinkedIdentity.objects.filter(subject=subject).count() == 1
    return signed_in


@pytest.mark.parametrize("undone", [True, False])
def test_three_at_once_and_a_sign_up_make_one_account(
    google: RunningSimulator, committed: None, undone: bool
) -> None:
    email = f"new-{uuid.uuid4()}@example.com"

    def sign_up() -> None:
        User.objects.create_user(email, PASSWORD)

    signed_in = at_once(google, email, held_up_by=sign_up, undone=undone)
    assert len({one.user.pk for one in signed_in}) == 1
    assert all(is_live(one) for one in signed_in)


def test_three_at_once_take_an_account_over_once(google: RunningSimulator, committed: None) -> None:
    email = f"alice-{uuid.uuid4()}@example.com"
    squatter = sessions.sign_up(email=email, password=PASSWORD)

    def lock() -> None:
        User.objects.select_for_update(no_key=True).get(email=email)

    signed_in = at_once(google, email, held_up_by=lock)
    assert {one.user.pk for one in signed_in} == {squatter.user.pk}
    assert all(is_live(one) for one in signed_in)
    assert not is_live(squatter)


def test_a_key_that_is_just_being_made_does_not_outlive_a_takeover(
    google: RunningSimulator, committed: None
) -> None:
    email = f"alice-{uuid.uuid4()}@example.com"
    squatter = sessions.sign_up(email=email, password=PASSWORD).user

    def make_key() -> None:
        try:
            api_keys.create_key(user=squatter, name="for later")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            identities.sign_in_with_google(id_token=google.id_token(claims={"email": email}))
            made = pool.submit(make_key)
            wait_until_blocked(connection.connection)
        with pytest.raises(InvalidToken):
            made.result()
    assert not ApiKey.objects.owned_by(squatter).active().exists()


def test_who_comes_while_a_stranger_closes_the_account_gets_another(
    google: RunningSimulator, committed: None
) -> None:
    email = f"alice-{uuid.uuid4()}@example.com"
    squatter = sessions.sign_up(email=email, password=PASSWORD).user

    signed_in = at_once(google, email, held_up_by=lambda: users.deactivate(user=squatter))

    assert len({one.user.pk for one in signed_in} - {squatter.pk}) == 1
    assert all(is_live(one) for one in signed_in)
