"""Periodic work on money: expiring lapsed charges, and deleting old answers."""

import structlog
from django.db import DatabaseError, connection

log = structlog.get_logger(__name__)

_EXPIRE = "SELECT status, cost FROM money_expire(%s)"
# PostgreSQL evaluates the outer condition again for a row that was changed meanwhile: a key may
# have been taken by another request.
_FORGET_OLD_KEYS = """
DELETE FROM billing_idempotencykey
WHERE created_at < now() - interval '24 hours' AND (account_id, route, key) IN
    (SELECT account_id, route, key FROM billing_idempotencykey
     WHERE created_at < now() - interval '24 hours' LIMIT %s)"""
# Bytes of answers kept for one account: vectors cost next to nothing and take much space.
KEPT_ANSWERS = 256 * 1024 * 1024
# The key stays: its call was billed, and is not made again. The length of a stored value is known
# without reading it. The charge's id tells apart requests that used the same key.
_FORGET_SURPLUS_ANSWERS = """
UPDATE billing_idempotencykey k SET answer = NULL FROM (
    SELECT account_id, route, key, charge_id,
           sum(octet_length(answer)) OVER (PARTITION BY account_id
                                           ORDER BY created_at DESC, charge_id DESC) AS kept
    FROM billing_idempotencykey WHERE answer IS NOT NULL AND account_id IN
        (SELECT account_id FROM billing_idempotencykey
         GROUP BY account_id HAVING sum(octet_length(answer)) > %(limit)s)) a
WHERE (k.account_id, k.route, k.key, k.charge_id) = (a.account_id, a.route, a.key, a.charge_id)
  AND a.kept > %(limit)s"""


def expire_lapsed_charges() -> None:
    """Resolve held charges whose owner or deadline has lapsed.

    Each has a transaction of its own, so that two wallets are never locked at once, and a charge
    that cannot be resolved now delays no other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM lapsed_charges(1000)")
        for (charge_id,) in cursor.fetchall():
            try:
                cursor.execute(_EXPIRE, (charge_id,))
            except DatabaseError:
                log.exception("charge.not_expired", charge_id=str(charge_id))
                continue
            status, cost = cursor.fetchone()
            log.warning("charge.lapsed", charge_id=str(charge_id), status=status, cost_nusd=cost)


def forget_idempotency_keys(*, chunk: int = 1000, kept: int = KEPT_ANSWERS) -> None:
    """Delete the expired keys, and the oldest answers of an account that has more than `kept` bytes
    of them."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_SURPLUS_ANSWERS, {"limit": kept})
    _repeat(_FORGET_OLD_KEYS, chunk)


def forget_undelivered_answers(*, chunk: int = 1000) -> None:
    """Delete the answers whose time to be sent again is over."""
    _repeat("SELECT * FROM forget_undelivered(%s)", chunk)


def _repeat(sql: str, chunk: int) -> None:
    """Run a statement that deletes at most `chunk` rows until it has deleted all."""
    with connection.cursor() as cursor:
        cursor.execute(sql, (chunk,))
        while cursor.rowcount >= chunk:
            cursor.execute(sql, (chunk,))
