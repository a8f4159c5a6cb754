"""Filters that narrow a list of millions of rows quickly."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from admin_ui.theme import DropdownFilter
from common.ids import least_of_day

_SECONDS_PER_DAY = 86_400
_PERIODS = {"1": "Today", "7": "7 days", "30": "30 days", "90": "90 days"}


class PeriodFilter(DropdownFilter):
    """Rows of the last days (UTC), today included, by the time in their ids (UUIDv7)."""

    title = "period"
    parameter_name = "days"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(_PERIODS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        days = self.value()
        if days not in _PERIODS:
            return queryset
        today = int(datetime.now(UTC).timestamp()) // _SECONDS_PER_DAY
        return queryset.filter(pk__gte=least_of_day(today - int(days) + 1))
