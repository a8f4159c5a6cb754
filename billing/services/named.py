"""Requests that begin something, and happen once where their client named them."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.types import Once


def take(*, account: User, once: Once | None) -> UUID | None:
    """Take the account's wallet until the transaction ends, as its first statement. Returns what
    the request made when it was sent before. Raises IdempotencyMismatch."""
    route, key, digest = (once.route, once.key, once.digest) if once else ("", None, b"")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM take_named_request(%s, %s, %s, %s)", (account.pk, route, key, digest)
        )
        outcome, result = cursor.fetchone()
    if outcome == "idempotency_mismatch":
        raise IdempotencyMismatch
    made: UUID | None = result
    return made


def keep(*, account: User, once: Once, result: UUID) -> None:
    """Let the request's name stand for what it has made. The wallet is taken."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT keep_named_request(%s, %s, %s, %s, %s)",
            (account.pk, once.route, once.key, once.digest, result),
        )
