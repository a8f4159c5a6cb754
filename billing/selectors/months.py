"""The UTC months that allowances and caps belong to, each named by its first day."""

from datetime import UTC, date, datetime


def current_month() -> date:
    """The month it is now."""
    return datetime.now(UTC).date().replace(day=1)


def month_after(month: date) -> date:
    """The month that follows."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)
