"""Jobs in the operators' admin: waiting and running ones, and those of the last days."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from backoffice import related
from backoffice.filters import PeriodFilter
from backoffice.pages import OfAnAccount, ReadOnly
from backoffice.related import Related
from backoffice.theme import DropdownFilter, display
from jobs.handlers import kinds
from jobs.models import Job


class KindFilter(DropdownFilter):
    """The kinds of jobs of this process."""

    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in sorted(kinds())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Job)
class JobAdmin(ReadOnly, OfAnAccount):
    """Read only: a job is ended through its product, which also ends its charge."""

    list_display = ("queued_at", "account", "kind", "queue", "shown_status", "signal", "attempt")
    list_filter = (
        PeriodFilter,
        ("status", ChoicesDropdownFilter),
        ("queue", ChoicesDropdownFilter),
        KindFilter,
    )
    ordering = ("-pk",)
    sortable_by = ()
    fields = (
        "id",
        "account",
        "kind",
        "queue",
        "shown_status",
        "signal",
        "attempt",
        "owner_id",
        "queued_at",
        "started_at",
        "due_at",
        "ended_at",
    )

    @display(
        description="status",
        label={
            "completed": "success",
            "running": "info",
            "scheduled": "info",
            "paused": "warning",
            "failed": "danger",
        },
    )
    def shown_status(self, job: Job) -> str:
        return job.status


def find_job(wanted: UUID) -> Iterator[Related]:
    """The job of that id, which is that of its charge."""
    for job in Job.objects.filter(pk=wanted):
        yield Related("job", "jobs.job", job.pk, f"{job.kind}, {job.status}, attempt {job.attempt}")


related.register(find_job)
