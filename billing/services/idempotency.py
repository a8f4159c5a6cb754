"""Requests that begin something, and happen once where their client named them."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.types import RequestKey


def claim(*, account: User, request_key: RequestKey | None) -> UUID | None:
    """Take the account's wallet until the transaction ends, as its first statement. Returns what
    the request made when it was sent before. Raises IdempotencyMismatch."""
    route, key, digest = (
        (request_key.route, request_key.key, request_key.digest) if request_key else ("", None, b"")
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM claim_idempotency_key(%s, %s, %s, %s)", (account.pk, route, key, digest)
        )
        outcome, result = cursor.fetchone()
    if outcome == "idempotency_mismatch":
        raise IdempotencyMismatch
    made: UUID | None = result
    return made


def store(*, account: User, request_key: RequestKey, result: UUID) -> None:
    """Let the request's name stand for what it has made. The wallet is taken."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT store_idempotency_key(%s, %s, %s, %s, %s)",
            (
                account.pk,
                request_key.route,
                request_key.key,
                request_key.digest,
                result,
            ),
        )
