"""Runs in the operators' admin: their steps, outcomes and costs, not their texts."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui import related
from admin_ui.filters import PeriodFilter
from admin_ui.pages import NewestOnly, ReadOnly
from admin_ui.related import Related
from admin_ui.theme import TabularInline, display
from billing.selectors.charges import get_billed
from common.money import usd_text
from projects.models import Apply, Run, Step
from projects.selectors.changes import status_of


class StepInline(TabularInline[Any, Any]):
    """The calls of a run, the earliest first."""

    model = Step
    verbose_name_plural = "calls"
    fields = readonly_fields = (
        *("charge", "kind", "of_subtask", "model", "status", "outcome", "reason"),
        *("created_at", "ended_at"),
    )
    ordering = ("id",)
    extra = max_num = 0
    can_delete = False
    per_page = 50

    @display(description="Charge")
    def charge(self, step: Step) -> str:
        path = reverse("admin:billing_charge_change", args=(step.pk,))
        return format_html('<a href="{}">{}</a>', path, step.pk)

    @display(description="Subtask")
    def of_subtask(self, step: Step) -> str:
        return str(step.subtask_id or "")

    @display(description="Why it failed")
    def reason(self, step: Step) -> str:
        return str((step.error or {}).get("code", ""))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Apply)
class ApplyAdmin(ReadOnly):
    """Orders to write staged files to repositories, and what became of them. The paths belong to
    the user: they are not shown."""

    list_display = ("created_at", "id", "run", "target", "outcome", "written", "left", "reason")
    list_filter: ClassVar[Any] = (PeriodFilter, ("ended_at", admin.EmptyFieldListFilter))
    list_select_related = ("run",)
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        *("id", "run", "created_at", "claim_until", "announced_at", "ended_at"),
        *("target", "outcome", "written", "left", "reason", "commit"),
    )

    @display(
        description="Outcome",
        label={"applied": "success", "partial": "warning", "failed": "danger", "applying": "info"},
    )
    def outcome(self, apply: Apply) -> str:
        return status_of(apply)

    @display(description="Files written")
    def written(self, apply: Apply) -> int:
        return sum(file["status"] == "applied" for file in apply.files)

    @display(description="Files left out, by code")
    def left(self, apply: Apply) -> str:
        codes = Counter(file["error"]["code"] for file in apply.files if file["error"])
        return ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))

    @display(description="Why it failed")
    def reason(self, apply: Apply) -> str:
        return str((apply.error or {}).get("code", ""))


@admin.register(Run)
class RunAdmin(ReadOnly, NewestOnly):
    """Goals, plans, results and titles belong to the user: they are not shown."""

    list_display = ("created_at", "id", "account", "shown_status", "phase", "pause_reason")
    list_filter = (
        PeriodFilter,
        ("status", ChoicesDropdownFilter),
        ("pause_reason", ChoicesDropdownFilter),
    )
    fields: ClassVar[tuple[str, ...]] = (
        *("id", "account", "created_at", "started_at", "ended_at"),
        *("status", "phase", "pause_reason", "failure", "planner_model", "budget_usd", "cost"),
    )
    inlines = (StepInline,)

    @display(
        description="Status",
        label={
            "completed": "success",
            "running": "info",
            "paused": "warning",
            "failed": "danger",
        },
    )
    def shown_status(self, run: Run) -> str:
        return run.status

    @display(description="Why it failed")
    def failure(self, run: Run) -> str:
        return str((run.error or {}).get("code", ""))

    @display(description="Budget")
    def budget_usd(self, run: Run) -> str:
        return usd_text(run.budget) if run.budget is not None else ""

    @display(description="Paid so far")
    def cost(self, run: Run) -> str:
        return usd_text(get_billed(run.account, Step.objects.filter(run=run)))


def find_run(wanted: UUID) -> Iterator[Related]:
    """The run of that id, or with the call of that id."""
    for step in Step.objects.filter(pk=wanted).only("run_id", "kind", "status"):
        yield Related("project run", "projects.run", step.run_id, f"{step.kind} {step.status}")
    for run in Run.objects.filter(pk=wanted).only("status"):
        yield Related("project run", "projects.run", run.pk, run.status)


related.register(find_run)
