"""The web app as money's tests use it: a signed-in client, and a clock that can be turned."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from tests.personas import access_token_of


def client_of(user: User) -> APIClient:
    """The web app of somebody who is signed in."""
    token = access_token_of(user)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {token}")


@contextmanager
def clock(moment: str) -> Iterator[None]:
    """Money on this connection moves as if it were that moment (ISO 8601)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('platform.clock', %s, false)", (moment,))
        try:
            yield
        finally:
            cursor.execute("SELECT set_config('platform.clock', '', false)")
