"""What the free plan's chat, and the titles, may cost the platform in one UTC day."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import connection

from billing.errors import FreeBudgetSpent
from common.money import NUSD_PER_USD

# As old may be what a process knows of the day's costs.
KEPT_SECONDS = 10
# Until midnight is too long for a client to wait in silence; budgets can be raised.
MAX_RETRY_SECONDS = 3600


def check() -> None:
    """Is there something left of FREE_DAILY_BUDGET_USD? Raises FreeBudgetSpent."""
    if _spent_lately() >= settings.FREE_DAILY_BUDGET_USD * NUSD_PER_USD:
        raise FreeBudgetSpent(retry_after=min(_seconds_left(), MAX_RETRY_SECONDS))


def _spent_lately() -> int:
    spent: int | None = cache.get("free_budget")
    if spent is None:
        spent = _spent()
        cache.set("free_budget", spent, KEPT_SECONDS)
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
