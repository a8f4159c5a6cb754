"""An account's plan and balance."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RelatedDropdownFilter

from admin_ui.acts import Acting
from admin_ui.money import aligned, usd_column
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import action, display
from billing.admin.acts import AdjustBalance, ChangePlan
from billing.models import Allowance, Subscription, Wallet
from billing.selectors.subscriptions import current_month

_ALLOWANCES = """<table class="w-full"><thead><tr class="text-left">
<th>Model</th><th class="granted_usd">Granted</th><th class="used_usd">Used</th>
<th class="held_usd">Held</th></tr></thead><tbody>{}</tbody></table>"""
_ALLOWANCE = """<tr><td>{}</td><td class="granted_usd">{}</td><td class="used_usd">{}</td>
<td class="held_usd">{}</td></tr>"""


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnly, OfAnAccount, Acting):
    list_display = ("account", "plan", "status", "started_at")
    list_filter = (("plan", RelatedDropdownFilter),)
    list_select_related = ("account", "plan")
    ordering = ("-pk",)
    fields = ("account", "plan", "status", "started_at", "this_month")
    readonly_fields = ("this_month",)
    actions_detail = ("change_plan",)

    @display(description="allowances used this month, at cost")
    def this_month(self, subscription: Subscription) -> str | SafeString:
        """The allowances in use: a row is created with the first use."""
        allowances = Allowance.objects.filter(
            account_id=subscription.pk, month=current_month()
        ).order_by("model_id")
        rows = [
            (row.model_id, aligned(row.granted, 2), aligned(row.used), aligned(row.held))
            for row in allowances
        ]
        return format_html(_ALLOWANCES, format_html_join("", _ALLOWANCE, rows)) if rows else "none"

    @action(description="Change the plan", icon="swap_vert", permissions=["act"])
    def change_plan(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, ChangePlan)


@admin.register(Wallet)
class WalletAdmin(ReadOnly, OfAnAccount, Acting):
    list_display = ("account", "balance_usd", "held_usd", "free_usd", "open_charges")
    ordering = ("-pk",)
    fields = ("account", "balance_usd", "held_usd", "free_usd", "open_charges", "seq")
    readonly_fields = ("balance_usd", "held_usd", "free_usd")
    actions_detail = ("adjust",)

    balance_usd = usd_column("balance")
    held_usd = usd_column("held", "held by running calls")

    @display(description="free")
    def free_usd(self, wallet: Wallet) -> str:
        return aligned(wallet.balance - wallet.held)

    @action(description="Adjust the balance", icon="price_change", permissions=["act"])
    def adjust(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, AdjustBalance)
