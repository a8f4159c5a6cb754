"""The results of requests that carry an idempotency key."""

from typing import cast
from uuid import UUID

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.queries import fetch_rows
from billing.types import RequestKey
from common.database import get_database


def find_result(account: User, request_key: RequestKey) -> UUID | None:
    """The result of the request when it was sent before, as it stands now; code that acts on the
    result uses `idempotency.claim`. Raises IdempotencyMismatch where another request used the
    key."""
    found = fetch_rows(
        "SELECT charge_id, digest = %s FROM find_idempotency_key(%s, %s, %s)",
        request_key.digest,
        account.pk,
        request_key.route,
        request_key.key,
    )
    if not found:
        return None
    [(result, is_same)] = found
    if not is_same:
        raise IdempotencyMismatch
    return cast(UUID, result)


def keeps_key(charge_id: UUID) -> bool:
    """Does the charge keep its idempotency key: does its call run, or was anything paid for it?
    Otherwise the call may be made again with the same key."""
    kept = fetch_rows("SELECT charge_keeps_key(c) FROM billing_charge c WHERE id = %s", charge_id)
    return (True,) in kept


async def has_ended(account_id: UUID, request_key: RequestKey) -> bool:
    """Was the call of that key made, so that it is not made again? Not while it runs."""
    rows = await get_database().rows(
        "SELECT 1 FROM find_idempotency_key(%s, %s, %s) k"
        " JOIN billing_charge c ON c.id = k.charge_id"
        " WHERE c.status <> 'held' AND charge_keeps_key(c)",
        (account_id, request_key.route, request_key.key),
    )
    return bool(rows)
