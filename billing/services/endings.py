"""Ending a charge in a Django transaction, together with the rows that tell of its call."""

from typing import Any
from uuid import UUID

from django.db import connection

from billing.types import Ending, Resolution


def resolve(ending: Ending) -> Resolution:
    """End a call as `charges.resolve` does. The first statement of the transaction: it takes the
    wallet's lock, which comes before those of all other rows."""
    outcome, *values = _resolve(
        ending.charge_id,
        ending.status,
        ending.cost,
        ending.tokens_in,
        ending.tokens_out,
        ending.cached_tokens,
        ending.reasoning_tokens,
        ending.images,
        ending.seconds,
    )
    return Resolution(outcome == "resolved", *values)


def expire(charge_id: UUID) -> Resolution | None:
    """End a call that nobody runs any more: bill its last checkpoint, or release it. None where
    there is no such charge. The first statement of the transaction, as above."""
    outcome, *values = _resolve(charge_id, "expired", 0, 0, 0, 0, 0, 0, 0)
    return None if outcome == "unknown" else Resolution(outcome == "resolved", *values)


def _resolve(*values: Any) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM money_resolve(%s,%s,%s,%s,%s,%s,%s,%s,%s)", values)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
