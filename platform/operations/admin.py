"""Operations of providers in the operators' admin."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter

from backoffice.filters import PeriodFilter
from backoffice.pages import ReadOnly
from common.ids import as_uuid
from operations.models import Operation


@admin.register(Operation)
class OperationAdmin(ReadOnly):
    """Read only. The id of an operation is that of its job and of its charge."""

    list_display = (
        "job_id",
        "provider",
        "provider_id",
        "state",
        "is_unreconciled",
        "submitted_at",
        "deadline_at",
    )
    list_filter = (
        PeriodFilter,
        ("state", ChoicesDropdownFilter),
        ("is_unreconciled", BooleanRadioFilter),
    )
    search_fields = ("job_id",)
    search_help_text = "The id of an operation, which is that of its job and of its charge"
    ordering = ("-pk",)
    sortable_by = ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return queryset, False
        wanted = as_uuid(search_term.strip())
        return queryset.filter(pk=wanted) if wanted else queryset.none(), False
