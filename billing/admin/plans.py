"""The plans on offer: their prices, and how much of each model they include."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Aggregate, Count, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest

from accounts.services.platform_account import PLATFORM_ID
from admin_ui.money import UsdFields, usd_column
from admin_ui.pages import Page
from admin_ui.theme import TabularInline, display
from billing.models import Plan, PlanAllowance, Subscription
from billing.seeds import ALLOWANCE_SHARE_OF_PRICE
from common.money import usd_text


def _of_each_plan(rows: QuerySet[Any], total: Aggregate) -> Subquery:
    """The total over the rows of each plan."""
    grouped = rows.filter(plan=OuterRef("pk")).order_by().values("plan")
    return Subquery(grouped.annotate(total=total).values("total"))


class AllowanceInline(UsdFields, TabularInline[Any, Any]):
    """An account takes a changed allowance with its next month, or with its next plan."""

    model = PlanAllowance
    usd_fields = ("granted",)
    extra = 0
    ordering = ("model",)
    verbose_name_plural = (
        "allowances per month, at cost (accounts take a change with their next first use of the "
        "model in a month)"
    )


class PlanForm(forms.ModelForm[Plan]):
    def clean_price(self) -> int:
        """A plan's price stays what it is in kind: fixed, or agreed by contract."""
        price: int | None = self.cleaned_data["price"]
        if price is None:
            raise forms.ValidationError("This plan has a price.")
        return price


@admin.register(Plan)
class PlanAdmin(Page):
    """The code decides what a plan can do; this page decides prices and allowances."""

    form = PlanForm
    list_display = ("name", "price_usd", "included", "api_access", "accounts")
    fields = ("key", "name", "price", "included", "api_access", "features")
    readonly_fields = ("key", "included", "api_access", "features")
    usd_fields = ("price",)
    inlines = (AllowanceInline,)

    price_usd = usd_column("price", "price per month", decimals=2)

    @display(description="allowances at cost")
    def included(self, plan: Plan) -> str:
        """The sum of the allowances and its share of the price, which has to leave something."""
        granted: int = plan.granted or 0  # type: ignore[attr-defined]
        if not plan.price:
            return usd_text(granted)
        share = granted / plan.price
        warning = ", too much" if share > ALLOWANCE_SHARE_OF_PRICE else ""
        return f"{usd_text(granted)} ({share:.0%} of the price{warning})"

    @display(description="accounts")
    def accounts(self, plan: Plan) -> int:
        return plan.accounts or 0  # type: ignore[attr-defined]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        plans: QuerySet[Plan] = super().get_queryset(request)
        customers = Subscription.objects.exclude(account=PLATFORM_ID)
        return plans.annotate(
            granted=_of_each_plan(PlanAllowance.objects.all(), Sum("granted")),
            accounts=_of_each_plan(customers, Count("*")),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        by_contract = obj is not None and obj.price is None
        return (*self.readonly_fields, "price") if by_contract else self.readonly_fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
