"""What the free plan's chat, and the titles, may cost the platform in one UTC day."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import connection

from billing.errors import FreeBudgetSpent
from common.money import NUSD_PER_USD

# So often one of those who ask a process adds up the day's costs, which may take a while; the
# others go by what was known before. That is forgotten when nobody has asked for long.
KEPT_SECONDS = 10
FORGOTTEN_SECONDS = 600
# Until midnight is too long for a client to wait in silence; budgets can be raised.
MAX_RETRY_SECONDS = 3600


def check() -> None:
    """Raises FreeBudgetSpent where `find_refusal` finds it."""
    if refusal := find_refusal():
        raise refusal


def find_refusal() -> FreeBudgetSpent | None:
    """Is there nothing left of FREE_DAILY_BUDGET_USD? Nobody asks this who holds a lock."""
    if _spent_lately() < settings.FREE_DAILY_BUDGET_USD * NUSD_PER_USD:
        return None
    return FreeBudgetSpent(retry_after=min(_seconds_left(), MAX_RETRY_SECONDS))


def _spent_lately() -> int:
    day = datetime.now(UTC).date().isoformat()
    is_due = cache.add(f"free_budget_due:{day}", True, KEPT_SECONDS)
    spent: int | None = cache.get(f"free_budget:{day}")
    if spent is None or is_due:
        spent = _spent()
        cache.set(f"free_budget:{day}", spent, FORGOTTEN_SECONDS)
    return spent


def _spent() -> int:
    """Nano-USD of the day so far; calls that run count at their worst."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT platform_cost_today()")
        (spent,) = cursor.fetchone()
    return int(spent)


def _seconds_left() -> int:
    """Of this day."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - now).total_seconds()) + 1
