"""The audit log, and failed sign-ins."""

from operator import itemgetter
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.utils import parse_date_str

from accounts.models import ApiKey, SignInFailures, User
from admin_ui.pages import Page, ReadOnly
from admin_ui.ranks import may_act_for
from admin_ui.theme import DropdownFilter, RangeDateFilter, display
from common.ids import as_uuid


class OperatorFilter(DropdownFilter):
    """Those who are operators now: the log is not searched for others."""

    title = "operator"
    parameter_name = "operator"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        operators = User.objects.filter(is_staff=True).order_by("email")
        return [(str(key), email) for key, email in operators.values_list("pk", "email")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
        wanted = as_uuid(self.value() or "")
        return queryset.filter(user=wanted) if wanted else queryset


class PageFilter(DropdownFilter):
    """The pages of the admin: the log is not searched for those that it names."""

    title = "page"
    parameter_name = "page"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        types = ContentType.objects.get_for_models(*model_admin.admin_site._registry)
        return sorted(((str(type_.pk), str(type_)) for type_ in types.values()), key=itemgetter(1))

    def queryset(self, request: HttpRequest, queryset: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
        wanted = self.value() or ""
        return queryset.filter(content_type__pk=wanted) if wanted.isdecimal() else queryset


class DateRangeFilter(RangeDateFilter):
    """Days in UTC, the first and the last included. The theme would compare a time with midnight,
    and leave out the last day."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
        for end, lookup in (("from", "date__gte"), ("to", "date__lte")):
            day = parse_date_str(self.used_parameters.get(f"{self.field_path}_{end}", ""))
            if day is not None:
                queryset = queryset.filter(**{f"{self.field_path}__{lookup}": day})
        return queryset


@admin.register(LogEntry)
class AuditLogAdmin(ReadOnly):
    """The actions of operators, with time and reason. The database refuses to change them."""

    # Words are looked for in the newest entries.
    newest = 50_000
    list_display = ("action_time", "user", "content_type", "concerned", "message")
    list_display_links = ("action_time",)
    list_select_related = ("user", "content_type")
    list_filter = (
        ("action_time", DateRangeFilter),
        ("action_flag", ChoicesDropdownFilter),
        PageFilter,
        OperatorFilter,
    )
    ordering = ("-pk",)
    search_fields = ("object_repr", "change_message")
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
        if search_term.strip():
            numbers = LogEntry.objects.order_by("-pk").values_list("pk", flat=True)
            too_old = numbers[self.newest :].first() or 0
            queryset = queryset.filter(pk__gt=too_old)
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
