"""Money that moves without a call: top-ups, adjustments and plan changes."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from billing.errors import BelowHeld
from common.errors import Conflict, NotFound


def topup(*, operation_id: UUID, account: User, amount: int, description: str = "Top-up") -> int:
    """Add nano-USD to a balance, once per `operation_id`. Returns the balance after it."""
    return _move(
        operation_id=operation_id,
        account=account,
        kind="topup",
        delta=amount,
        description=description,
    )


def adjust(*, operation_id: UUID, account: User, delta: int, reason: str) -> int:
    """Correct a balance by an operator's decision, once per `operation_id`. Returns the result.

    Raises BelowHeld where running calls hold more than would be left.
    """
    return _move(
        operation_id=operation_id, account=account, kind="adjust", delta=delta, description=reason
    )


def change_plan(*, account: User, plan: str) -> None:
    """Put an account on another plan from now on; running calls keep what they hold."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT money_change_plan(%s, %s)", (account.pk, plan))


def _move(*, operation_id: UUID, account: User, kind: str, delta: int, description: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM money_move(%s, %s, %s, %s, %s)",
            (operation_id, account.pk, kind, delta, description),
        )
        outcome, balance = cursor.fetchone()
    if outcome == "below_held":
        raise BelowHeld
    if outcome == "conflict":
        raise Conflict("This operation was carried out before, for another account or amount.")
    if outcome == "unknown":
        raise NotFound("There is no such account.")
    return int(balance)
