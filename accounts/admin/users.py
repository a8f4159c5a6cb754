"""Accounts in the admin. Passwords and token ids are never shown."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Field, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import (
    BooleanRadioFilter,
    ChoicesDropdownFilter,
    RelatedDropdownFilter,
)

from accounts.admin.acts import Reactivate, ResetSecondFactor, RevokeSessions, Suspend
from accounts.models import LinkedIdentity, SecondFactor, User, UserSession
from accounts.services.platform_account import PLATFORM_ID
from admin_ui.acts import Acting
from admin_ui.money import aligned
from admin_ui.ranks import may_act_for
from admin_ui.theme import TabularInline, action, display
from common.ids import as_uuid

# Only superusers change these, and not their own.
RANK = ("is_staff", "is_superuser", "groups")
# The lists of the rows of an account, found by its id.
LISTS = {
    "API keys": "accounts_apikey",
    "Sessions": "accounts_usersession",
    "Charges": "billing_charge",
    "Ledger": "billing_ledgerentry",
    "Usage by day": "billing_usagedaily",
    "Contracts": "billing_contractallowance",
    "Conversations": "conversations_conversation",
    "Files": "files_storedfile",
    "Audit log": "admin_logentry",
}
_LINK = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'


class IdentityInline(TabularInline[Any, Any]):
    """The user's accounts at identity providers."""

    model = LinkedIdentity
    fields = readonly_fields = ("issuer", "subject", "created_at")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _newest_rotation() -> Subquery:
    rows = UserSession.objects.filter(account=OuterRef("pk")).order_by().values("account")
    return Subquery(rows.annotate(newest=Max("rotated_at")).values("newest"))


@admin.register(User)
class UserAdmin(Acting):
    """Accounts are created by signing up, and suspended instead of deleted: their charges stay."""

    list_display = (
        "email",
        "name",
        "shown_status",
        "plan",
        "balance_usd",
        "email_verified",
        "seen_at",
        "created_at",
    )
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("subscription__plan", RelatedDropdownFilter),
        ("email_verified", BooleanRadioFilter),
        ("is_staff", BooleanRadioFilter),
    )
    list_select_related = ("subscription__plan", "wallet")
    search_fields = ("email", "name")
    search_help_text = "An address, a name or an id"
    ordering = ("-pk",)
    fieldsets = (
        (None, {"fields": ("email", "name", "email_verified", "shown_status")}),
        ("Money", {"fields": ("plan", "balance_usd", "links")}),
        ("More", {"fields": ("id", "locale", "timezone", "seen_at", "created_at")}),
        ("Operator", {"fields": (*RANK, "second_factor_since")}),
    )
    readonly_fields = (
        "id",
        "email",
        "shown_status",
        "plan",
        "balance_usd",
        "links",
        "second_factor_since",
        "locale",
        "timezone",
        "seen_at",
        "created_at",
    )
    autocomplete_fields = ("groups",)
    inlines = (IdentityInline,)
    actions_detail = ("suspend", "reactivate", "revoke_sessions", "reset_second_factor")

    @display(
        description="status",
        ordering="status",
        label={
            "active": "success",
            "suspended": "warning",
            "deactivated": "danger",
            "deleted": "danger",
        },
    )
    def shown_status(self, user: User) -> str:
        return user.status

    @display(description="plan", ordering="subscription__plan__rank")
    def plan(self, user: User) -> SafeString:
        url = reverse("admin:billing_subscription_change", args=(user.pk,))
        return format_html(_LINK, url, user.subscription.plan)

    @display(description="balance", ordering="wallet__balance")
    def balance_usd(self, user: User) -> SafeString:
        url = reverse("admin:billing_wallet_change", args=(user.pk,))
        return format_html(_LINK, url, aligned(user.wallet.balance))

    @display(description="last seen")
    def seen_at(self, user: User) -> datetime | None:
        """When the web app last received a token, or the operator signed in here."""
        return user.seen_at  # type: ignore[attr-defined, no-any-return]

    @display(description="second factor since")
    def second_factor_since(self, user: User) -> datetime | None:
        factor = SecondFactor.objects.filter(operator=user).first()
        return factor.created_at if factor else None

    @display(description="what belongs to it")
    def links(self, user: User) -> SafeString:
        query = urlencode({"q": user.pk})
        lists = [
            (f"{reverse(f'admin:{name}_changelist')}?{query}", title)
            for title, name in LISTS.items()
        ]
        return format_html_join(" · ", _LINK, lists)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        users: QuerySet[User] = super().get_queryset(request).exclude(pk=PLATFORM_ID)
        return users.annotate(seen_at=Greatest("last_login", _newest_rotation()))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        if wanted := as_uuid(search_term.strip()):
            return queryset.filter(pk=wanted), False
        return super().get_search_results(request, queryset, search_term)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """No operator verifies their own address, or changes their own rank."""
        if obj is None or obj.pk == request.user.pk:
            return (*self.readonly_fields, "email_verified", *RANK)
        return self.readonly_fields if request.user.is_superuser else (*self.readonly_fields, *RANK)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save only the changed fields: the user may be changing others at the same time."""
        own = {field.name for field in User._meta.get_fields() if isinstance(field, Field)}
        columns = own - {field.name for field in User._meta.many_to_many}
        obj.save(update_fields=[name for name in form.changed_data if name in columns])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Operators change their own names; only superusers change other operators."""
        permitted: bool = super().has_change_permission(request, obj)
        if obj is None or obj.pk == request.user.pk:
            return permitted
        return permitted and may_act_for(request.user, obj)

    def account_of(self, record: User) -> User:
        return record

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The actions that apply to this user, and that this operator may take."""
        user = self.get_object(request, str(object_id))
        active = user is not None and user.status == User.Status.ACTIVE
        moot = {"accounts_user_reactivate" if active else "accounts_user_suspend"}
        if user is None or not SecondFactor.objects.filter(operator=user).exists():
            moot.add("accounts_user_reset_second_factor")
        acts = super().get_actions_detail(request, object_id)
        return [act for act in acts if act.action_name not in moot]

    @action(description="Suspend", icon="block", permissions=["act"])
    def suspend(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, Suspend)

    @action(description="Reactivate", icon="undo", permissions=["act"])
    def reactivate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, Reactivate)

    @action(description="Revoke sessions", icon="logout", permissions=["act"])
    def revoke_sessions(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RevokeSessions)

    @action(description="Reset second factor", icon="phonelink_erase", permissions=["act"])
    def reset_second_factor(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, ResetSecondFactor)
