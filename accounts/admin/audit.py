"""The audit log, and failed sign-ins."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter

from accounts.models import ApiKey, SignInFailures, User
from backoffice.pages import Page, ReadOnly
from backoffice.ranks import may_act_for
from backoffice.theme import display
from common.ids import as_uuid


@admin.register(LogEntry)
class AuditLogAdmin(ReadOnly):
    """The actions of operators, with time and reason. The database refuses to change them."""

    list_display = ("action_time", "user", "content_type", "concerned", "message")
    list_display_links = ("action_time",)
    list_select_related = ("user", "content_type")
    list_filter = (
        ("action_time", RangeDateFilter),
        ("action_flag", ChoicesDropdownFilter),
        ("content_type", admin.RelatedOnlyFieldListFilter),
        ("user", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = ("object_id", "object_repr", "change_message")
    search_help_text = "An account's id, what was changed, or a word of the reason"
    fields = ("action_time", "user", "content_type", "concerned", "object_id", "message")
    readonly_fields = ("concerned", "message")

    @display(description="what")
    def concerned(self, entry: LogEntry) -> str:
        name, url = entry.object_repr, entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', url, name) if url else name

    @display(description="what was done")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LogEntry], search_term: str
    ) -> tuple[QuerySet[LogEntry], bool]:
        if wanted := as_uuid(search_term.strip()):
            return queryset.filter(_concerning(wanted)), False
        return super().get_search_results(request, queryset, search_term)


def _concerning(wanted: UUID) -> Q:
    """The entries about this id, which include the wallet and the subscription of an account; and
    for an account its keys, and records that are named by its address (contracts, existing or
    deleted)."""
    keys = ApiKey.objects.filter(account=wanted).values_list("pk", flat=True)
    found = Q(object_id__in=[str(wanted), *map(str, keys)])
    if account := User.objects.filter(pk=wanted).first():
        found |= Q(object_repr__startswith=f"{account}: ")
    return found


@admin.register(SignInFailures)
class SignInFailuresAdmin(Page):
    """Deleting a row lets that address try again. Rows of operators' addresses are deleted by
    operators who may act for them: somebody who knows a password must not get more guesses of
    codes."""

    list_display = ("name", "count", "last_at")
    search_fields = ("name",)
    ordering = ("-last_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        permitted = super().has_delete_permission(request, obj)
        if not permitted or obj is None:
            return permitted
        account = User.objects.filter(email=obj.name.rpartition(" from ")[0]).first()
        return account is None or may_act_for(request.user, account)
