"""The web app as money's tests use it: a signed-in client, and a clock that can be turned."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from rest_framework.test import APIClient

from accounts import tokens
from accounts.models import User


def client_of(user: User) -> APIClient:
    """The web app of somebody who is signed in."""
    token = tokens.access_token(user.pk, user.token_version)
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
