"""Idempotency keys of requests that create something."""

from uuid import UUID

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.models import IdempotencyKey
from billing.queries import fetch_row
from billing.types import RequestKey, columns_of


def lock(*, account: User) -> None:
    """Lock the account's wallet until the transaction ends, as its first statement."""
    claim(account=account, request_key=None)


def claim(*, account: User, request_key: RequestKey | None) -> UUID | None:
    """Lock the account's wallet until the transaction ends, as its first statement. Returns the id
    that the request created when it was sent before. Raises IdempotencyMismatch."""
    outcome, result = fetch_row(
        "SELECT * FROM claim_idempotency_key(%s, %s, %s, %s)", account.pk, *columns_of(request_key)
    )
    if outcome == "idempotency_mismatch":
        raise IdempotencyMismatch
    created: UUID | None = result
    return created


def free(*, account: User, result: UUID) -> None:
    """Forget the key of the request that created this, which is as if it had not been sent. The
    caller holds the wallet's lock."""
    IdempotencyKey.objects.filter(account=account, charge_id=result).delete()


def store(*, account: User, request_key: RequestKey, result: UUID) -> None:
    """Store the id that the request created. The caller holds the wallet's lock."""
    fetch_row(
        "SELECT store_idempotency_key(%s, %s, %s, %s, %s)",
        account.pk,
        *columns_of(request_key),
        result,
    )
