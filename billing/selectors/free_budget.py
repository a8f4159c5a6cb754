"""What the free plan's chat, and the titles, may cost the platform in one UTC day."""

import threading
from datetime import UTC, datetime, timedelta

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection, transaction

from billing.errors import FreeBudgetSpent
from common.errors import ServiceUnavailable
from common.money import NUSD_PER_USD

# So often one of those who ask a process adds up the day's costs, which may take a while; the
# others go by what was known before. That is forgotten when nobody has asked for long.
KEPT_SECONDS = 10
FORGOTTEN_SECONDS = 600
# Adding up may take so long, and waiting for whoever does it.
SUM_SECONDS = 3
# Until midnight is too long for a client to wait in silence; budgets can be raised.
MAX_RETRY_SECONDS = 3600

log = structlog.get_logger(__name__)

_adding_up = threading.Lock()


def check() -> None:
    """Raises FreeBudgetSpent where `find_refusal` finds it, and what that raises."""
    if refusal := find_refusal():
        raise refusal


def find_refusal() -> FreeBudgetSpent | None:
    """Is there nothing left of FREE_DAILY_BUDGET_USD? Nobody asks this who holds a lock. Raises
    OperationalError and ServiceUnavailable where finding out takes too long."""
    if _spent_lately() < settings.FREE_DAILY_BUDGET_USD * NUSD_PER_USD:
        return None
    return FreeBudgetSpent(retry_after=min(_seconds_left(), MAX_RETRY_SECONDS))


def _spent_lately() -> int:
    day = datetime.now(UTC).date().isoformat()
    is_due = cache.add(f"free_budget_due:{day}", True, KEPT_SECONDS)
    known = _known(day)
    if known is None:
        return _found_out(day)
    if not is_due:
        return known
    try:
        return _add_up(day)
    except OperationalError:
        log.warning("free_budget.not_added_up")
        return known


def _known(day: str) -> int | None:
    spent: int | None = cache.get(f"free_budget:{day}")
    return spent


def _found_out(day: str) -> int:
    """What nobody knows one adds up, and those who come meanwhile wait for it."""
    # First, because those who wait may have all the other connections.
    connection.ensure_connection()
    if not _adding_up.acquire(timeout=SUM_SECONDS):
        raise ServiceUnavailable
    try:
        known = _known(day)
        return _add_up(day) if known is None else known
    finally:
        _adding_up.release()


def _add_up(day: str) -> int:
    """Nano-USD of the day so far; calls that run count at their worst."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Not by the function: the time that a statement has is fixed when it begins.
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", (f"{SUM_SECONDS}s",))
        cursor.execute("SELECT platform_cost_today()")
        (spent,) = cursor.fetchone()
    cache.set(f"free_budget:{day}", int(spent), FORGOTTEN_SECONDS)
    return int(spent)


def _seconds_left() -> int:
    """Of this day."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - now).total_seconds()) + 1
