"""Charges, the ledger, and usage by day. Nobody changes these rows; a charge can be refunded.

The tables grow for ever, so they are listed in the order of an index and cannot be sorted.
"""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import (
    ChoicesDropdownFilter,
    RangeDateFilter,
    RelatedDropdownFilter,
)

from admin_ui.acts import Acting
from admin_ui.filters import PeriodFilter
from admin_ui.money import usd_column
from admin_ui.pages import NewestOnly, OfAnAccount, ReadOnly
from admin_ui.theme import DropdownFilter, action, display
from billing.admin.acts import RefundCharge
from billing.admin.explanation import explain
from billing.models import Charge, LedgerEntry, UsageDaily
from billing.types import FAILURE_CODES


class KindFilter(DropdownFilter):
    """The kinds of calls: a fixed list, so that millions of rows are not searched for it."""

    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in ("chat", "images", "embeddings", "speech", "video", "3d")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class FailureFilter(DropdownFilter):
    """Why calls failed: the codes that callers received."""

    title = "failure"
    parameter_name = "failure"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in FAILURE_CODES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(failure__code=self.value()) if self.value() else queryset


@admin.register(Charge)
class ChargeAdmin(ReadOnly, NewestOnly, Acting):
    """One row per call to a provider. Kinds and failures have no index, because every call would
    pay for it."""

    change_form_outer_before_template = "billing/explanation.html"
    search_help_text = "An account's address or id, a charge's id, or a request's (x-request-id)"
    list_display = (
        "admitted_at",
        "account",
        "model_id",
        "kind",
        "source",
        "shown_status",
        "failure_code",
        "plan_usd",
        "balance_usd",
    )
    list_filter = (
        PeriodFilter,
        ("status", ChoicesDropdownFilter),
        FailureFilter,
        ("source", ChoicesDropdownFilter),
        ("model", RelatedDropdownFilter),
        KindFilter,
    )
    actions_detail = ("refund",)
    # The explanation, which stands above them, has the others.
    fields = (
        *("id", "shown_status", "kind", "source", "funding", "cost_usd", "plan_usd", "balance_usd"),
        *("request_id", "owner_id"),
    )

    cost_usd = usd_column("cost", "at cost")
    plan_usd = usd_column("charge_plan", "by the plan")
    balance_usd = usd_column("charge_balance", "by the balance")

    @display(
        description="status",
        label={"settled": "success", "held": "info", "released": "warning", "expired": "danger"},
    )
    def shown_status(self, charge: Charge) -> str:
        return charge.status

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """A charge that billed nothing cannot be refunded."""
        charge = self.get_object(request, str(object_id))
        if charge is None or charge.charge_plan + charge.charge_balance == 0:
            return []
        return super().get_actions_detail(request, object_id)

    @action(description="Refund", icon="currency_exchange", permissions=["act"])
    def refund(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RefundCharge)

    @display(description="failure", empty_value="-")
    def failure_code(self, charge: Charge) -> str | None:
        return charge.failure and charge.failure["code"]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The page of a charge begins with its explanation."""
        context = dict(extra_context or {})
        charge = self.get_object(request, unquote(object_id))
        if charge is not None and self.has_view_permission(request, charge):
            context["explanation"] = explain(charge, request.user)
        return super().change_view(request, object_id, form_url, context)

    def search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        return queryset.filter(request_id=term)


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnly, NewestOnly):
    """Every movement of a balance."""

    account_order = ("-seq",)

    list_display = ("created_at", "account", "seq", "kind", "delta_usd", "after_usd", "description")
    list_filter = (PeriodFilter, ("kind", ChoicesDropdownFilter))
    fields = ("id", "account", "seq", "kind", "delta_usd", "after_usd", "description", "created_at")

    delta_usd = usd_column("delta", "amount")
    after_usd = usd_column("balance_after")


@admin.register(UsageDaily)
class UsageDailyAdmin(ReadOnly, OfAnAccount):
    """What each account, key and model used on each day (UTC)."""

    list_display = (
        "day",
        "account",
        "api_key",
        "model_id",
        "requests",
        "tokens_in",
        "tokens_out",
        "billed_usd",
    )
    list_filter = (("day", RangeDateFilter), ("model", RelatedDropdownFilter))
    list_select_related = ("account", "api_key")
    ordering = ("-day", "-pk")
    sortable_by = ()
    fields = list_display

    billed_usd = usd_column("billed")
