"""What operators can do to an account's money."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.signing import BadSignature, TimestampSigner
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanWidget

from admin_ui.acts import Act
from admin_ui.money import MAX_USD, UsdField
from billing.errors import UsageExceedsPlan
from billing.models import Charge, LedgerEntry, Plan, Refund, Subscription, Wallet
from billing.services import balance
from common.errors import ValidationFailed
from common.ids import uuid7
from common.money import usd_text

_FORM_SECONDS = 24 * 60 * 60
_STALE = "This form is not from this page, or it is older than a day. Open the page again."


class OncePerForm(Act):
    """An act that moves money once, however often its form is sent. The form carries the id of the
    operation, signed for this record and this act, so that nobody can send the id of another
    operation."""

    operation = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, record: Any, data: Any = None) -> None:
        super().__init__(record, data)
        self.fields["operation"].initial = self._signer.sign(str(uuid7()))

    def clean_operation(self) -> UUID:
        try:
            signed = self._signer.unsign(self.cleaned_data["operation"], max_age=_FORM_SECONDS)
        except BadSignature:
            raise forms.ValidationError(_STALE) from None
        return UUID(signed)

    @property
    def _signer(self) -> TimestampSigner:
        name = type(self).__name__
        return TimestampSigner(salt=f"billing.{name}.{self.record.pk}")


class AdjustBalance(OncePerForm):
    title = "Adjust the balance"
    explanation = (
        "Adds to the balance, or takes from it what running calls do not hold. The customer sees "
        "the entry and its reason among their transactions."
    )
    record: Wallet

    amount = UsdField(
        label="Amount (USD)",
        at_least=-MAX_USD,
        help_text="In whole cents; negative to take away, like -12.50.",
    )
    fields_in_order = ("amount", "reason")

    def clean_amount(self) -> int:
        amount: int = self.cleaned_data["amount"]
        if amount == 0:
            raise forms.ValidationError("An adjustment of nothing changes nothing.")
        return amount

    def carry_out(self) -> str:
        operation, amount = self.cleaned_data["operation"], self.cleaned_data["amount"]
        wallet = Wallet.objects.select_for_update(no_key=True).get(pk=self.record.pk)
        repeated = LedgerEntry.objects.filter(pk=operation).exists()
        entry = balance.adjust(
            operation_id=operation,
            account=wallet.account,
            delta=amount,
            reason=self.cleaned_data["reason"],
        )
        if repeated:
            return ""
        return f"Balance adjusted by {usd_text(amount)} to {usd_text(entry.balance_after)}."


class RefundCharge(OncePerForm):
    title = "Refund this charge"
    explanation = (
        "Gives back first what the balance paid, to the balance; then, at cost, what the plan "
        "paid: to the allowance of the call's month, or to the balance once that month is over "
        "(UTC). The customer sees the refund and this reason among their transactions."
    )
    record: Charge

    amount = UsdField(
        label="Amount (USD)",
        decimals=9,
        required=False,
        help_text="Empty: all that was billed and not refunded yet.",
    )
    fields_in_order = ("amount", "reason")

    def clean_amount(self) -> int | None:
        amount: int | None = self.cleaned_data["amount"]
        if amount == 0:
            raise forms.ValidationError("A refund of nothing changes nothing.")
        return amount

    def carry_out(self) -> str:
        operation = self.cleaned_data["operation"]
        Wallet.objects.select_for_update(no_key=True).get(pk=self.record.account_id)
        repeated = Refund.objects.filter(pk=operation).exists()
        done = balance.refund(
            operation_id=operation,
            charge=self.record,
            amount=self.cleaned_data["amount"],
            reason=self.cleaned_data["reason"],
        )
        if repeated:
            return ""
        parts = {"the balance": done.to_balance, "the plan's allowance": done.to_allowance}
        told = [f"{usd_text(amount)} to {place}" for place, amount in parts.items() if amount]
        return f"Refunded {' and '.join(told)}."


class ChangePlan(Act):
    """Asks for confirmation where more was used this month than the new plan includes."""

    title = "Change the plan"
    explanation = (
        "Counts from now on: this month's allowances take the new plan's size, what was used stays "
        "used, and running calls keep what they hold."
    )
    record: Subscription

    plan = forms.ModelChoiceField(Plan.objects.all(), widget=UnfoldAdminSelectWidget)
    anyway = forms.BooleanField(
        label="Change it all the same: calls beyond the smaller allowances are paid by the balance",
        required=False,
        widget=forms.HiddenInput,
    )
    fields_in_order = ("plan", "reason", "anyway")

    def __init__(self, record: Subscription, data: Any = None) -> None:
        super().__init__(record, data)
        self.fields["plan"].queryset = Plan.objects.exclude(pk=record.plan_id)  # type: ignore[attr-defined]

    def carry_out(self) -> str:
        plan, anyway = self.cleaned_data["plan"], self.cleaned_data["anyway"]
        try:
            balance.change_plan(account=self.record.account, plan=plan.key, forced=anyway)
        except UsageExceedsPlan as error:
            self.fields["anyway"].widget = UnfoldBooleanWidget()
            model = error.extra["model_key"]
            raise ValidationFailed(
                f"More of {model} was used this month than {plan} includes. Wait for the first of "
                "next month (UTC), or change the plan all the same."
            ) from None
        although = ", although more was used this month" if anyway else ""
        return f"Plan changed from {self.record.plan} to {plan}{although}."
