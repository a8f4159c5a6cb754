"""Generation jobs in the operators' admin: their outcomes and costs, not their prompts and
results."""

from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui import related
from admin_ui.filters import PeriodFilter
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.related import Related
from admin_ui.theme import display
from billing.selectors.charges import get_states
from common.money import usd_text
from studios.models import Generation


@admin.register(Generation)
class GenerationAdmin(ReadOnly, OfAnAccount):
    """The operation of a job has what the provider says, and can be looked up, failed and settled
    by hand. Results are taken down among the stored files."""

    list_display = ("created_at", "id", "account", "kind", "model", "shown_status", "reason")
    list_filter = (
        PeriodFilter,
        ("kind", ChoicesDropdownFilter),
        ("status", ChoicesDropdownFilter),
    )
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[Any] = (
        *("id", "account", "kind", "model", "shown_status", "reason", "progress"),
        *("operation", "charge", "held", "paid", "parent"),
        *("created_at", "started_at", "ended_at", "deleted_at"),
    )

    @display(
        description="Status",
        label={"completed": "success", "running": "info", "failed": "danger"},
    )
    def shown_status(self, generation: Generation) -> str:
        return generation.status

    @display(description="Why it failed")
    def reason(self, generation: Generation) -> str:
        return str((generation.error or {}).get("code", ""))

    @display(description="Operation at the provider")
    def operation(self, generation: Generation) -> str:
        return _link("operations_operation", generation)

    @display(description="Charge")
    def charge(self, generation: Generation) -> str:
        return _link("billing_charge", generation)

    @display(description="Held")
    def held(self, generation: Generation) -> str:
        state = get_states([generation.pk]).get(generation.pk)
        return usd_text(state.held) if state and generation.is_open else ""

    @display(description="Paid")
    def paid(self, generation: Generation) -> str:
        state = get_states([generation.pk]).get(generation.pk)
        return usd_text(state.billed) if state and not generation.is_open else ""


def _link(page: str, generation: Generation) -> str:
    """To the row of that id on another page: job, operation and charge have one id."""
    path = reverse(f"admin:{page}_change", args=(generation.pk,))
    return format_html('<a href="{}">{}</a>', path, generation.pk)


def find_generation(wanted: UUID) -> Iterator[Related]:
    """The generation job of that id, which is that of its charge."""
    for row in Generation.objects.filter(pk=wanted).defer("prompt", "params"):
        yield Related("generation job", "studios.generation", row.pk, f"{row.kind}, {row.status}")


related.register(find_generation)
