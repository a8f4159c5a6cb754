"""Councils in the operators' admin: their outcomes and costs, not their texts."""

from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui import related
from admin_ui.filters import PeriodFilter
from admin_ui.pages import NewestOnly, ReadOnly
from admin_ui.related import Related
from admin_ui.theme import TabularInline, display
from common.money import usd_text
from council.models import Generation, Session
from council.selectors.cards import session_cost


class GenerationInline(TabularInline[Any, Any]):
    """The calls of a council, the earliest first."""

    model = Generation
    verbose_name_plural = "calls"
    fields = readonly_fields = ("charge", "model", "status", "reason", "created_at", "ended_at")
    ordering = ("id",)
    extra = max_num = 0
    can_delete = False
    per_page = 50

    @display(description="Charge")
    def charge(self, generation: Generation) -> str:
        path = reverse("admin:billing_charge_change", args=(generation.pk,))
        return format_html('<a href="{}">{}</a>', path, generation.pk)

    @display(description="Why it failed")
    def reason(self, generation: Generation) -> str:
        return str((generation.error or {}).get("code", ""))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(ReadOnly, NewestOnly):
    """Questions, answers and titles belong to the user: they are not shown."""

    list_display = ("created_at", "id", "account", "shown_status", "activity")
    list_filter = (PeriodFilter, ("status", ChoicesDropdownFilter))
    fields: ClassVar[tuple[str, ...]] = (
        "id",
        "account",
        "created_at",
        "status",
        "activity",
        "cost",
    )
    inlines = (GenerationInline,)

    @display(
        description="Status",
        label={"completed": "success", "running": "info", "failed": "danger"},
    )
    def shown_status(self, session: Session) -> str:
        return session.status

    @display(description="Paid so far")
    def cost(self, session: Session) -> str:
        return usd_text(session_cost(session.account, session.pk))


def find_council(wanted: UUID) -> Iterator[Related]:
    """The council of that id, or with the call of that id."""
    for call in Generation.objects.filter(pk=wanted).defer("content"):
        state = f"call {call.status} on card {call.card_id}"
        yield Related("council", "council.session", call.session_id, state)
    for session in Session.objects.filter(pk=wanted).only("status"):
        yield Related("council", "council.session", session.pk, session.status)


related.register(find_council)
