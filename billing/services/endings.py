"""Ending a charge in a Django transaction, together with the rows about its call."""

from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from billing.types import Ending, Failure, Resolution

RESOLVE = "SELECT * FROM money_resolve(%s,%s,%s,%s,%s,%s,%s,%s,%s,%s::jsonb)"
EXPIRE = "SELECT * FROM money_resolve(%s, 'expired', p_failure => %s::jsonb)"


def resolve(ending: Ending) -> Resolution:
    """End a call as `charges.resolve` does. This is the first statement of the transaction, because
    it locks the wallet, and that lock comes before all other row locks."""
    outcome, *values = _row(RESOLVE, ending_parameters(ending))
    return Resolution(outcome == "resolved", *values)


def expire(charge_id: UUID, failure: Failure | None = None) -> Resolution | None:
    """End a call that nobody runs any more: bill its last checkpoint, or release it. None where
    there is no such charge. This is the first statement of the transaction, as in `resolve`."""
    outcome, *values = _row(EXPIRE, (charge_id, _encoded(failure)))
    return None if outcome == "unknown" else Resolution(outcome == "resolved", *values)


def ending_parameters(ending: Ending) -> tuple[Any, ...]:
    """The parameters of money_resolve."""
    return (
        ending.charge_id,
        ending.status,
        ending.cost,
        ending.tokens_in,
        ending.tokens_out,
        ending.cached_tokens,
        ending.reasoning_tokens,
        ending.images,
        ending.seconds,
        _encoded(ending.failure),
    )


def _encoded(failure: Failure | None) -> str | None:
    return None if failure is None else msgspec.json.encode(failure).decode()


def _row(sql: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
