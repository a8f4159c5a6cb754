"""Operations of providers in the operators' admin."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from admin_ui import related
from admin_ui.acts import Act, Acting
from admin_ui.filters import PeriodFilter
from admin_ui.pages import ReadOnly
from admin_ui.related import Related
from admin_ui.theme import action
from ai.operations import by_hand
from ai.operations.models import Operation
from common.ids import as_uuid


class LookUp(Act):
    title = "Look this operation up now"
    explanation = "A worker asks the provider at once, and not only when the next poll is due."
    record: Operation

    def carry_out(self) -> str:
        return "Looked up." if by_hand.look_up(self.record.pk) else ""


class Fail(Act):
    title = "End this operation as failed"
    explanation = (
        "Its customer sees that the provider has failed, and pays nothing. The provider is not "
        "asked any more: if it was submitted, it stays to be reconciled."
    )
    dangerous = True
    record: Operation

    def carry_out(self) -> str:
        return "Ended as failed." if by_hand.fail(self.record.pk) else ""


class Settle(Act):
    title = "Settle this operation with the provider"
    explanation = (
        "Its customer has paid nothing, and pays nothing now. Note what the provider has billed us "
        "for it: 0 where the provider knows nothing of it."
    )
    fields_in_order = ("cost_usd", "reason")
    record: Operation

    cost_usd = forms.DecimalField(
        label="The provider's bill, in USD",
        min_value=0,
        max_digits=10,
        decimal_places=4,
        widget=UnfoldAdminDecimalFieldWidget,
    )

    def carry_out(self) -> str:
        if not by_hand.settle(self.record.pk):
            return ""
        return f"Settled: the provider has billed {self.cleaned_data['cost_usd']} USD."


@admin.register(Operation)
class OperationAdmin(ReadOnly, Acting):
    """The id of an operation is that of its job and of its charge. What the provider is asked to
    make belongs to the user: it is not shown."""

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
    fields = (
        *("job", "provider", "provider_id", "state", "is_unreconciled", "is_cancelled"),
        *("progress", "failures", "unknowns", "submitted_at", "deadline_at"),
    )
    actions_detail = ("look_up", "fail", "settle")

    def account_of(self, record: Operation) -> Any:
        return record.job.account

    @action(description="Look up", icon="search", permissions=["act"])
    def look_up(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, LookUp)

    @action(description="Fail", icon="block", permissions=["act"])
    def fail(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, Fail)

    @action(description="Settle", icon="price_check", permissions=["act"])
    def settle(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, Settle)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return queryset, False
        wanted = as_uuid(search_term.strip())
        return queryset.filter(pk=wanted) if wanted else queryset.none(), False


def find_operation(wanted: UUID) -> Iterator[Related]:
    """The operation of that id, which is that of its job and of its charge."""
    for operation in Operation.objects.filter(pk=wanted):
        state = f"{operation.provider}, {operation.state}"
        yield Related("operation at the provider", "operations.operation", operation.pk, state)


related.register(find_operation)
