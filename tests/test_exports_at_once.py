"""Two requests for an export at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from privacy.models import Export
from privacy.tests.exporting import PATH
from tests.locks import wait_until_blocked
from tests.personas import authorization, new_user
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def alice() -> User:
    return new_user("alice")


def both_at_once(alice: User) -> list[Any]:
    """The answers to two requests that meet at the lock of the user."""
    token = authorization(alice)["Authorization"]
    clients = [APIClient(HTTP_AUTHORIZATION=token) for _ in range(2)]

    def alone(ask: Callable[[str], Any]) -> Any:
        try:
            return ask(PATH)
        finally:
            connection.close()

    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(2) as pool:
        holder.execute("SELECT FROM accounts_user WHERE id = %s FOR UPDATE", (alice.pk,))
        answers = [pool.submit(alone, client.post) for client in clients]
        wait_until_blocked(holder, 2)
        holder.rollback()
        return [answer.result() for answer in answers]


def test_both_get_the_same(alice: User) -> None:
    first, second = both_at_once(alice)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert Export.objects.filter(account=alice).count() == 1
