"""What single accounts were promised."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter

from billing.models import ContractAllowance
from billing.services import balance
from common.backoffice.money import usd_column
from common.backoffice.pages import OfAnAccount


@admin.register(ContractAllowance)
class ContractAllowanceAdmin(OfAnAccount):
    """A model's allowance for one account. One that is agreed is changed or deleted, not added
    again."""

    list_display = ("account", "model", "granted_usd")
    list_filter = (("model", RelatedDropdownFilter),)
    list_select_related = ("account", "model")
    autocomplete_fields = ("account", "model")
    usd_fields = ("granted",)
    ordering = ("-account", "model")

    granted_usd = usd_column("granted", "granted each month, at cost")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("account", "model") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: ContractAllowance, form: Any, change: bool
    ) -> None:
        balance.set_contract(account=obj.account, model_id=obj.model_id, granted=obj.granted)
        obj.pk = ContractAllowance.objects.get(account=obj.account, model=obj.model).pk
        if obj.account.subscription.plan.price is not None:
            messages.warning(
                request, f"It does not count yet: {obj.account} is on a plan with a fixed price."
            )

    def delete_model(self, request: HttpRequest, obj: ContractAllowance) -> None:
        balance.set_contract(account=obj.account, model_id=obj.model_id, granted=None)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ContractAllowance]) -> None:
        for contract in queryset.select_related("account"):
            self.delete_model(request, contract)
