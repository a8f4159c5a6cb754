"""What operators did, and who failed to become one."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter

from accounts.models import SignInFailures
from common.backoffice.pages import Page, ReadOnly
from common.backoffice.theme import display


@admin.register(LogEntry)
class AuditLogAdmin(ReadOnly):
    """Who did what, when and why. The database refuses to alter it."""

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
    search_help_text = "The id or name of what was changed, or a word of the reason"
    fields = ("action_time", "user", "content_type", "concerned", "object_id", "message")
    readonly_fields = ("concerned", "message")

    @display(description="what")
    def concerned(self, entry: LogEntry) -> str:
        name, url = entry.object_repr, entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', url, name) if url else name

    @display(description="what was done")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()


@admin.register(SignInFailures)
class SignInFailuresAdmin(Page):
    """Deleting a row lets that address try again."""

    list_display = ("name", "count", "since")
    search_fields = ("name",)
    ordering = ("-since",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
