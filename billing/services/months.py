"""The months of charges: their partitions are made ahead, closed when they are over, and dropped
when they are not kept any longer.

A month is one of the charges' ids. To close it is to let no row of it change any more, and to find
that its totals (`ChargeTotal`, `GroupTotal`) are those of its rows: from then on they are what the
invariants begin with. docs/operations/retention.md has the operator's view.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

import psycopg
import structlog
from django.conf import settings
from django.db import OperationalError

from billing.invariants import Violation
from billing.models import ChargeMonth
from billing.queries import fetch_rows
from billing.selectors.subscriptions import end_of
from billing.services.reconciliation import check_changes
from common.locks import try_lock

log = structlog.get_logger(__name__)

T = TypeVar("T")

# Months that have a partition before they begin; with fewer than ENOUGH an operator is told.
AHEAD = 3
ENOUGH = 2
# From the end of a month on: a call has its id before it is admitted, by the clock of its process.
GRACE = timedelta(days=3)
_ATTEMPTS = 20
_PAUSE = 0.5  # seconds, in which calls go on


class MonthRefused(Exception):
    """The month cannot be closed or dropped now; the message says why."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month with a partition. `size` is in bytes."""

    period: date
    size: int
    closed: ChargeMonth | None


def list_months() -> list[Month]:
    """The months that have a partition, the oldest first."""
    closed = {month.period: month for month in ChargeMonth.objects.all()}
    rows = fetch_rows(
        "SELECT to_date(right(relname, 7), 'YYYY_MM'), pg_total_relation_size(oid) FROM pg_class"
        " JOIN pg_inherits ON inhrelid = oid WHERE inhparent = 'billing_charge'::regclass"
        " AND relname <> 'billing_charge_default' ORDER BY relname"
    )
    return [Month(period, size, closed.get(period)) for period, size in rows]


def count_strays() -> int:
    """The charges that are in no month's partition."""
    [(count,)] = fetch_rows("SELECT count(*) FROM billing_charge_default")
    return int(count)


def make_ahead(*, now: datetime | None = None, since: datetime | None = None) -> list[date]:
    """Add the partitions that are missing, of this month and the next ones, or from that moment on;
    and of each month before that has charges in none. Returns their months."""
    now = now or datetime.now(UTC)
    last = _first(now)
    for _ in range(AHEAD):
        last = following(last)
    month = _first(since or now)
    missing = _months_of_strays(before=month)
    while month <= last:
        missing.append(month)
        month = following(month)
    return [month for month in missing if add_month(month)]


def _months_of_strays(*, before: date) -> list[date]:
    """The months of the charges that are in no month's partition, where their ids say one."""
    rows = fetch_rows(
        "SELECT DISTINCT period_of(id) FROM billing_charge_default"
        " WHERE period_of(id) > '0001-01-01' AND period_of(id) < %s ORDER BY 1",
        before,
    )
    return [month for (month,) in rows]


def add_month(month: date) -> bool:
    """Add the partition of a month, with the charges of it that lie in the default partition. False
    where it exists."""
    [(added,)] = _patiently(lambda: fetch_rows("SELECT add_charge_month(%s)", month))
    return bool(added)


def close_month(month: date, *, now: datetime | None = None) -> ChargeMonth:
    """Close a month, unless it is closed. Raises MonthRefused where it is not over, charges of it
    are held, something is broken, or its totals are not those of its rows."""
    if closed := ChargeMonth.objects.filter(pk=month).first():
        return closed
    if (now or datetime.now(UTC)) < end_of(month) + GRACE:
        raise MonthRefused(f"{month:%Y-%m} is over for less than {GRACE.days} days.")
    if month not in {each.period for each in list_months()}:
        raise MonthRefused(f"{month:%Y-%m} has no partition.")
    # Who fails lets the month go on, which nobody else may be closing.
    with try_lock("close-month") as is_alone:
        if not is_alone:
            raise MonthRefused("A month is being closed by another process.")
        return _close(month)


def _close(month: date) -> ChargeMonth:
    if closed := ChargeMonth.objects.filter(pk=month).first():
        return closed
    # A process that died while it closed the month has left it frozen.
    _thaw(month)
    _require_intact(check_changes())
    [(held,)] = _patiently(lambda: fetch_rows("SELECT freeze_charge_month(%s)", month))
    if held:
        raise MonthRefused(f"{held} charges of {month:%Y-%m} are held, or were just resolved.")
    try:
        # What was resolved until the month was frozen.
        _require_intact(check_changes())
        charges = _count_as_totalled(month)
        return ChargeMonth.objects.create(
            period=month, charges=charges, closed_at=datetime.now(UTC)
        )
    except BaseException:
        _thaw(month)
        raise


def _thaw(month: date) -> None:
    _patiently(lambda: fetch_rows("SELECT thaw_charge_month(%s)", month))


def drop_month(month: date) -> float:
    """Drop the charges of a month. Returns the seconds that it took. Calls wait for a part of them:
    PostgreSQL deletes the files after it releases the locks. Raises MonthRefused where the month is
    not closed, its rows are not what was closed, or they are needed."""
    closed = ChargeMonth.objects.filter(pk=month).first()
    if closed is None:
        raise MonthRefused(f"{month:%Y-%m} is not closed.")
    if closed.dropped_at:
        return 0.0
    charges = _count_as_totalled(month)
    if charges != closed.charges:
        raise MonthRefused(
            f"{month:%Y-%m} was closed with {closed.charges} charges, and has {charges}."
        )
    [(named,)] = fetch_rows(
        "SELECT count(*) FROM billing_idempotencykey WHERE created_at > now() - interval '24 hours'"
        " AND charge_id >= least_id_of(%s) AND charge_id < least_id_of(%s)",
        month,
        following(month),
    )
    if named:
        raise MonthRefused(f"{named} idempotency keys still name charges of {month:%Y-%m}.")
    return _patiently(lambda: _timed(lambda: fetch_rows("SELECT drop_charge_month(%s)", month)))


def keep_months() -> None:
    """Make months ahead, close those that are over, drop those that are not kept; and log an error
    where an operator has to look."""
    now = datetime.now(UTC)
    strays = count_strays()
    for added in make_ahead(now=now):
        log.info("charges.month_added", month=f"{added:%Y-%m}")
    months = list_months()
    ahead = sum(month.period > _first(now) for month in months)
    if ahead < ENOUGH:
        log.error("charges.too_few_months_ahead", months=ahead)
    if strays:
        log.error("charges.without_month", charges=strays)
    for month in months:
        _keep(month, now)


def _keep(month: Month, now: datetime) -> None:
    try:
        if month.closed is None and following(month.period) <= (now - GRACE).date():
            close_month(month.period, now=now)
            log.info("charges.month_closed", month=f"{month.period:%Y-%m}")
        elif month.closed and _is_outlived(month.period, now):
            seconds = drop_month(month.period)
            log.info(
                "charges.month_dropped", month=f"{month.period:%Y-%m}", ms=round(seconds * 1000)
            )
    except MonthRefused as refused:
        reason = str(refused)
        log.error(  # noqa: TRY400 - the reason says all
            "charges.month_not_kept", month=f"{month.period:%Y-%m}", reason=reason
        )


def _is_outlived(month: date, now: datetime) -> bool:
    kept: int = settings.CHARGES_KEPT_MONTHS
    age = (now.year - month.year) * 12 + now.month - month.month
    return bool(kept) and age > kept


def following(month: date) -> date:
    """The next month."""
    return end_of(month).date()


def _first(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def _require_intact(violations: list[Violation]) -> None:
    if violations:
        names = sorted({violation.invariant.name for violation in violations})
        raise MonthRefused(f"Invariants are broken: {', '.join(names)}.")


def _count_as_totalled(month: date) -> int:
    """How many charges a month has. Raises MonthRefused if its totals are not those of its rows."""
    if differing := fetch_rows("SELECT * FROM differing_totals(%s)", month):
        raise MonthRefused(f"The totals of {month:%Y-%m} are not those of its rows: {differing}.")
    [(charges,)] = fetch_rows("SELECT count_charge_month(%s)", month)
    return int(charges)


def _timed(act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _patiently(act: Callable[[], T]) -> T:
    """Try again while transactions that run are in the way. Raises OperationalError at last."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return act()
        except OperationalError as error:
            in_the_way = isinstance(error.__cause__, psycopg.errors.LockNotAvailable)
            if not in_the_way or attempt == _ATTEMPTS:
                raise
            time.sleep(_PAUSE)
    raise AssertionError  # pragma: no cover - the last attempt returns or raises
