"""The daily limit (UTC) on the platform's costs for the free plan's chat and for titles."""

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
from billing.queries import fetch_row
from billing.selectors.billing_snapshot import get_funds
from billing.types import FREE_PLAN
from common.errors import ServiceUnavailable
from common.money import NUSD_PER_USD

# The longest that a sum is used before one request of the process adds up again (meanwhile the
# others use the old sum), and after how long an unused sum is dropped.
KEPT_SECONDS = 10
FORGOTTEN_SECONDS = 600
# The time limit of adding up, and of waiting for another thread that adds up.
SUM_SECONDS = 3
# One mailbox may use a 20th of the budget of unverified accounts, and one network a 5th.
MAILBOX_PART = 20
NETWORK_PART = 5
# Clients do not wait until midnight in silence; budgets can be raised.
MAX_RETRY_SECONDS = 3600

log = structlog.get_logger(__name__)

_adding_up = threading.Lock()


class Costs(Struct, frozen=True):
    """The platform's costs of today, and the part of them on accounts whose address is not
    verified; nano-USD."""

    spent: int
    of_unverified: int


def check_for(account_id: UUID) -> None:
    """Raise the error that `find_refusal` finds for the account, or the errors that it raises."""
    if refusal := find_refusal(User.objects.get(pk=account_id)):
        raise refusal


def find_refusal(
    user: User, model_id: str | None = None
) -> FreeBudgetSpent | EmailUnverified | None:
    """The error where FREE_DAILY_BUDGET_USD is spent, or the part of it for unverified accounts
    where the user's is one. Callers hold no lock. Raises OperationalError and ServiceUnavailable
    where adding up takes too long."""
    costs = _spent_lately()
    if costs.spent >= _budget():
        return FreeBudgetSpent(retry_after=min(_seconds_left(), MAX_RETRY_SECONDS))
    if user.email_verified or not _is_share_spent(user, costs):
        return None
    return EmailUnverified(model_key=model_id, plan=FREE_PLAN, funds=get_funds(user))


def must_verify(user: User) -> bool:
    """Are free messages refused to the user until the address is verified? False where the costs
    cannot be read now. One statement in a transaction of its own, and a second where the day's
    costs are due to be added up; for verified users none."""
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
    """Have unverified accounts used up their part, in all or of the user's mailbox or network?"""
    share = _budget() * settings.FREE_UNVERIFIED_PERCENT // 100
    if costs.of_unverified >= share:
        return True
    of_mailbox, of_network = _query("SELECT * FROM unverified_costs_today(%s)", user.pk)
    return of_mailbox >= share // MAILBOX_PART or of_network >= share // NETWORK_PART


def _spent_lately() -> Costs:
    day = datetime.now(UTC).date().isoformat()
    is_due = cache.add(f"free_budget_due:{day}", True, KEPT_SECONDS)
    known = _known(day)
    if known is None:
        return _add_up_once(day)
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


def _add_up_once(day: str) -> Costs:
    """The costs where none are cached: one thread adds them up, and the others wait for it."""
    # Connect first: the waiting threads may take all the other connections.
    connection.ensure_connection()
    if not _adding_up.acquire(timeout=SUM_SECONDS):
        raise ServiceUnavailable
    try:
        known = _known(day)
        return _add_up(day) if known is None else known
    finally:
        _adding_up.release()


def _add_up(day: str) -> Costs:
    """Cache and return the costs of the day so far; running calls count with their worst cost."""
    costs = Costs(*_query("SELECT * FROM platform_costs_today()"))
    cache.set(f"free_budget:{day}", costs, FORGOTTEN_SECONDS)
    return costs


def _query(sql: str, *parameters: UUID) -> tuple[int, int]:
    """Run the query. Raises OperationalError where it takes too long."""
    with transaction.atomic():
        # In a statement of its own: the time limit of a statement is fixed when it begins.
        fetch_row("SELECT set_config('statement_timeout', %s, true)", f"{SUM_SECONDS}s")
        first, second = fetch_row(sql, *parameters)
    return int(first), int(second)


def _seconds_left() -> int:
    """The seconds until midnight (UTC)."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - now).total_seconds()) + 1
