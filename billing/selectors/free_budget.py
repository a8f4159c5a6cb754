"""What the free plan's chat, and the titles, may cost the platform in one UTC day."""

import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from msgspec import Struct

from accounts.models import User
from billing.errors import EmailUnverified, FreeBudgetSpent
from billing.selectors.billing_snapshot import get_funds
from billing.types import FREE_PLAN
from common.errors import ServiceUnavailable
from common.money import NUSD_PER_USD

# So often one of those who ask a process adds up the day's costs, which may take a while; the
# others go by what was known before. That is forgotten when nobody has asked for long.
KEPT_SECONDS = 10
FORGOTTEN_SECONDS = 600
# Adding up may take so long, and waiting for whoever does it.
SUM_SECONDS = 3
# Of what unverified accounts may have, one mailbox and one network have at most such a part.
MAILBOX_PART = 20
NETWORK_PART = 5
# Until midnight is too long for a client to wait in silence; budgets can be raised.
MAX_RETRY_SECONDS = 3600

log = structlog.get_logger(__name__)

_adding_up = threading.Lock()


class Costs(Struct, frozen=True):
    """What the platform has spent today, and how much of it on accounts whose address is not
    verified; nano-USD."""

    spent: int
    of_unverified: int


def check_for(account_id: UUID) -> None:
    """Raises what `find_refusal` finds for the account, and what that raises."""
    if refusal := find_refusal(User.objects.get(pk=account_id)):
        raise refusal


def find_refusal(
    user: User, model_id: str | None = None
) -> FreeBudgetSpent | EmailUnverified | None:
    """Is there nothing left of FREE_DAILY_BUDGET_USD, or of what unverified accounts may have of
    it where the user's is one? Nobody asks this who holds a lock. Raises OperationalError and
    ServiceUnavailable where finding out takes too long."""
    costs = _spent_lately()
    if costs.spent >= _budget():
        return FreeBudgetSpent(retry_after=min(_seconds_left(), MAX_RETRY_SECONDS))
    if user.email_verified or not _is_share_spent(user, costs):
        return None
    balance = get_funds(user).available
    return EmailUnverified(model_key=model_id, plan=FREE_PLAN, balance=balance)


def must_verify(user: User) -> bool:
    """Are free messages refused to the user until the address is verified? Where that cannot be
    found out now, they are not. Asks one statement in a transaction of its own, and another where
    the day's costs are due to be added up; of verified users none."""
    if user.email_verified:
        return False
    try:
        costs = _spent_lately()
        return costs.spent < _budget() and _is_share_spent(user, costs)
    except (OperationalError, ServiceUnavailable):
        return False


def _budget() -> int:
    budget: int = settings.FREE_DAILY_BUDGET_USD * NUSD_PER_USD
    return budget


def _is_share_spent(user: User, costs: Costs) -> bool:
    """Have unverified accounts used up theirs, in all or of the user's mailbox or network?"""
    share = _budget() * settings.FREE_UNVERIFIED_PERCENT // 100
    if costs.of_unverified >= share:
        return True
    of_mailbox, of_network = _ask("SELECT * FROM unverified_costs_today(%s)", user.pk)
    return of_mailbox >= share // MAILBOX_PART or of_network >= share // NETWORK_PART


def _spent_lately() -> Costs:
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


def _known(day: str) -> Costs | None:
    costs: Costs | None = cache.get(f"free_budget:{day}")
    return costs


def _found_out(day: str) -> Costs:
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


def _add_up(day: str) -> Costs:
    """Of the day so far; calls that run count at their worst."""
    costs = Costs(*_ask("SELECT * FROM platform_costs_today()"))
    cache.set(f"free_budget:{day}", costs, FORGOTTEN_SECONDS)
    return costs


def _ask(sql: str, *parameters: UUID) -> tuple[int, int]:
    """Raises OperationalError where the answer takes too long."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Not by the function: the time that a statement has is fixed when it begins.
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", (f"{SUM_SECONDS}s",))
        cursor.execute(sql, parameters)
        first, second = cursor.fetchone()
    return int(first), int(second)


def _seconds_left() -> int:
    """Of this day."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - now).total_seconds()) + 1
