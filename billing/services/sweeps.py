"""What keeps money true without anybody asking: expiring lapsed charges, checking invariants."""

import structlog
from django.db import connection

from billing.invariants import INVARIANTS, Violation

log = structlog.get_logger(__name__)


def expire_lapsed_charges(*, limit: int = 1000) -> int:
    """Resolve held charges whose owner or time has run out. Returns how many.

    Each is its own transaction, so that never two wallets are locked at once; running it twice at
    the same time is harmless.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM lapsed_charges(%s)", (limit,))
        lapsed = [row[0] for row in cursor.fetchall()]
        for charge_id in lapsed:
            cursor.execute("SELECT status, cost FROM money_resolve(%s, 'expired')", (charge_id,))
            status, cost = cursor.fetchone()
            log.warning("charge.lapsed", charge_id=str(charge_id), status=status, cost_nusd=cost)
    return len(lapsed)


def find_violations(*, limit: int = 20) -> list[Violation]:
    """Every row that breaks an invariant, at most `limit` per invariant. Empty: all is well."""
    violations = []
    with connection.cursor() as cursor:
        for invariant in INVARIANTS:
            cursor.execute(f"{invariant.sql} LIMIT %s", (limit,))
            columns = [column.name for column in cursor.description or ()]
            violations += [
                Violation(invariant, dict(zip(columns, row, strict=True)))
                for row in cursor.fetchall()
            ]
    return violations
