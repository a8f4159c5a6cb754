"""Ending a charge in a Django transaction, together with the rows about its call."""

from uuid import UUID

import msgspec

from billing.queries import fetch_row
from billing.types import Ending, Failure, Resolution, as_json

RESOLVE = "SELECT * FROM money_resolve(%s)"
EXPIRE = "SELECT * FROM money_expire(%s, %s::jsonb)"


def resolve(ending: Ending) -> Resolution:
    """End a call as `charges.resolve` does. This is the first statement of the transaction, because
    it locks the wallet, and that lock comes before all other row locks."""
    outcome, *values = fetch_row(RESOLVE, as_json(ending))
    return Resolution(outcome == "resolved", *values)


def expire(charge_id: UUID, failure: Failure | None = None) -> Resolution | None:
    """End a call that nobody runs any more: bill its last checkpoint, or release it. None where
    there is no such charge. This is the first statement of the transaction, as in `resolve`."""
    cause = msgspec.json.encode(failure).decode() if failure else None
    outcome, *values = fetch_row(EXPIRE, charge_id, cause)
    return None if outcome == "unknown" else Resolution(outcome == "resolved", *values)
