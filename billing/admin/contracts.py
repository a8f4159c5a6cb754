"""Allowances that single accounts were promised."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter

from accounts.models import User
from admin_ui.money import usd_column
from admin_ui.pages import OfAnAccount
from admin_ui.ranks import may_act_for
from billing.models import ContractAllowance
from billing.services import balance


class ContractForm(forms.ModelForm[ContractAllowance]):
    operator: ClassVar[User]  # the page makes a class of its own for each request

    def clean_account(self) -> User:
        account: User = self.cleaned_data["account"]
        if not may_act_for(self.operator, account):
            raise forms.ValidationError("You may not agree on anything with this account.")
        return account


@admin.register(ContractAllowance)
class ContractAllowanceAdmin(OfAnAccount):
    """A model's allowance for one account. An existing one is changed or deleted, not added
    again."""

    form = ContractForm
    list_display = ("account", "model", "granted_usd")
    list_filter = (("model", RelatedDropdownFilter),)
    list_select_related = ("account", "model")
    autocomplete_fields = ("account", "model")
    usd_fields = ("granted",)
    ordering = ("-account", "model")

    granted_usd = usd_column("granted", "granted each month, at cost", decimals=2)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.operator = request.user
        return form

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        permitted: bool = super().has_change_permission(request, obj)
        return permitted and (obj is None or may_act_for(request.user, obj.account))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        permitted: bool = super().has_delete_permission(request, obj)
        return permitted and (obj is None or may_act_for(request.user, obj.account))

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
