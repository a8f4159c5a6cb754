"""What requests have made that their client named."""

from typing import cast
from uuid import UUID

from django.db import connection

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.types import RequestKey


def find_made(account: User, request_key: RequestKey) -> UUID | None:
    """What that very request made when it was sent before, as it stands now: `idempotency.claim` is
    for code that acts on it. Raises IdempotencyMismatch where its name is another request's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT charge_id, digest = %s FROM find_idempotency_key(%s, %s, %s)",
            (request_key.digest, account.pk, request_key.route, request_key.key),
        )
        row = cursor.fetchone()
    if row is None:
        return None
    made, is_same = row
    if not is_same:
        raise IdempotencyMismatch
    return cast(UUID, made)


def keeps_key(charge_id: UUID) -> bool:
    """Does the call of that charge keep what its client called it: is it running, or was anything
    paid for it? Otherwise it may be made again under that name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT charge_keeps_key(c) FROM billing_charge c WHERE id = %s", (charge_id,)
        )
        row = cursor.fetchone()
    return row is not None and bool(row[0])
