"""Jobs in the operators' admin: waiting and running ones, and those of the last days."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui import related
from admin_ui.acts import Act, Acting
from admin_ui.filters import PeriodFilter
from admin_ui.pages import FilteredList, NewestOnly, ReadOnly
from admin_ui.related import Related
from admin_ui.theme import ChangeList, DropdownFilter, action, display
from billing.selectors.charges import get_failures, get_states
from work.jobs import services
from work.jobs.handlers import kinds
from work.jobs.models import Job


class KindFilter(DropdownFilter):
    """The kinds of jobs of this process."""

    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in sorted(kinds())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class AgeFilter(DropdownFilter):
    """Jobs that have not ended and are older than so many seconds."""

    title = "not ended for"
    parameter_name = "age"
    ages: ClassVar[dict[str, str]] = {"60": "A minute", "600": "10 minutes", "3600": "An hour"}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(self.ages.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        age = self.value()
        if age not in self.ages:
            return queryset
        since = Now() - timedelta(seconds=int(age))
        return queryset.filter(ended_at=None, queued_at__lt=since)


class RunNow(Act):
    title = "Run this job now"
    explanation = (
        "A worker takes it at once, where it waits or is scheduled for later. A job that has ended "
        "is not run again, because its charge has ended with it: the customer sends it again."
    )
    record: Job

    def carry_out(self) -> str:
        return "Run now." if services.run_now(job_id=self.record.pk) else ""


class Cancel(Act):
    title = "Cancel this job"
    explanation = (
        "It ends as if its user had cancelled it, with what it belongs to. One that waits makes no "
        "call; one that runs bills what was produced. A paused job is cancelled by its user."
    )
    dangerous = True
    record: Job

    def carry_out(self) -> str:
        return "Asked to cancel." if services.request_cancel(job_id=self.record.pk) else ""


class JobList(FilteredList):
    """The jobs of a page know why their calls failed: job and charge have one id."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        failures = get_failures([job.pk for job in self.result_list])
        for job in self.result_list:
            job.failure = failures.get(job.pk, "")


@admin.register(Job)
class JobAdmin(ReadOnly, NewestOnly, Acting):
    """A job is ended by its own handler, which also ends its charge and what it belongs to."""

    account_order = ()

    list_display = (
        *("queued_at", "account", "kind", "queue", "shown_status", "signal", "attempt"),
        *("losses", "reason"),
    )
    list_filter = (
        PeriodFilter,
        AgeFilter,
        ("status", ChoicesDropdownFilter),
        ("queue", ChoicesDropdownFilter),
        KindFilter,
    )
    fields = (
        *("id", "account", "kind", "queue", "provider", "shown_status", "signal", "reason"),
        *("attempt", "losses", "owner_id", "charge"),
        *("queued_at", "started_at", "due_at", "ended_at"),
    )
    readonly_fields = ("reason", "charge")
    actions_detail = ("run_now", "cancel")

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

    @display(description="why its call failed", empty_value="-")
    def reason(self, job: Job) -> str:
        failure = getattr(job, "failure", None)
        if failure is None:  # on the page of one job
            return get_failures([job.pk]).get(job.pk, "")
        return str(failure)

    @display(description="charge")
    def charge(self, job: Job) -> str:
        """Job and charge have one id."""
        if job.pk not in get_states([job.pk]):
            return "none"
        path = reverse("admin:billing_charge_change", args=(job.pk,))
        return format_html('<a href="{}">{}</a>', path, job.pk)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return JobList

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """None where the job has ended."""
        job = self.get_object(request, str(object_id))
        if job is None or job.ended_at is not None:
            return []
        return super().get_actions_detail(request, object_id)

    @action(description="Run now", icon="play_arrow", permissions=["act"])
    def run_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RunNow)

    @action(description="Cancel", icon="cancel", permissions=["act"])
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, Cancel)


def find_job(wanted: UUID) -> Iterator[Related]:
    """The job of that id, which is that of its charge."""
    for job in Job.objects.filter(pk=wanted):
        yield Related("job", "jobs.job", job.pk, f"{job.kind}, {job.status}, attempt {job.attempt}")


related.register(find_job)
