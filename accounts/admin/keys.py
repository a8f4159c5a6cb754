"""API keys in the admin: their names and hints, never the secret or its digest."""

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.admin.acts import RevokeKey
from accounts.models import ApiKey
from accounts.services import api_keys
from admin_ui.acts import Acting
from admin_ui.money import usd_column
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import action, display


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnly, OfAnAccount, Acting):
    """Keys are shown here and can be revoked; only their owners create and change them."""

    list_display = ("name", "shown_hint", "account", "state", "created_at", "last_used_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    ordering = ("-pk",)
    fields = (
        "name",
        "shown_hint",
        "account",
        "state",
        "cap_usd",
        "allowed_models",
        "features",
        "created_at",
        "last_used_at",
        "revoked_at",
        "id",
    )
    readonly_fields = ("shown_hint", "state", "cap_usd")
    actions = ("revoke",)
    actions_detail = ("revoke_one",)

    cap_usd = usd_column("monthly_spend_cap", decimals=2)

    @display(description="hint")
    def shown_hint(self, key: ApiKey) -> str:
        return f"…{key.hint}"

    @display(description="state", label={"active": "success", "revoked": "danger"})
    def state(self, key: ApiKey) -> str:
        return "revoked" if key.revoked_at else "active"

    @admin.action(description="Revoke the selected keys", permissions=["act"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        keys = queryset.filter(revoked_at=None).select_related("account")
        permitted = [key for key in keys if self.may_act_on(request, key)]
        if len(permitted) < len(keys):
            messages.warning(request, "Keys of operators, among them yours, were left alone.")
        for key in permitted:
            with transaction.atomic():
                api_keys.revoke_key(user=key.account, key_id=key.pk)
                self.log_change(
                    request, key, f"Revoked with others; it was a key of {key.account}."
                )

    @action(description="Revoke", icon="key_off", permissions=["act"])
    def revoke_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RevokeKey)
