"""The UTC months that allowances and caps belong to, each named by its first day."""

from datetime import UTC, date, datetime, time


def current_month() -> date:
    """The month it is now."""
    return datetime.now(UTC).date().replace(day=1)


def begin_of(month: date) -> datetime:
    """The moment at which it begins."""
    return datetime.combine(month, time(), UTC)


def end_of(month: date) -> datetime:
    """The moment at which the next one begins."""
    return begin_of(date(month.year + month.month // 12, month.month % 12 + 1, 1))
