"""Mails in the admin: waiting, sent and failed ones. Their texts are not kept."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from accounts.admin.acts import SendAgain
from accounts.models import OutgoingEmail
from accounts.services import email_kinds
from backoffice.acts import Acting
from backoffice.pages import ReadOnly
from backoffice.theme import DropdownFilter, action, display


class KindFilter(DropdownFilter):
    """Mails of one kind, of whichever app."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.replace("_", " ").capitalize()) for name in email_kinds.kind_names()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[OutgoingEmail]
    ) -> QuerySet[OutgoingEmail]:
        kind = self.value()
        return queryset.filter(kind=kind) if kind in email_kinds.kind_names() else queryset


@admin.register(OutgoingEmail)
class OutgoingEmailAdmin(ReadOnly, Acting):
    """The mails of a day."""

    list_display = ("created_at", "kind", "address", "state", "attempts", "error")
    list_filter = (("outcome", ChoicesDropdownFilter), KindFilter)
    search_fields: ClassVar[tuple[str, ...]] = ("^address",)
    search_help_text = "An address, or its beginning"
    ordering = ("-pk",)
    fields = ("kind", "address", "state", "attempts", "error", "created_at", "due_at", "ended_at")
    readonly_fields = ("state",)
    actions_detail = ("send_again",)

    @display(
        description="state",
        label={"waiting": "info", "sent": "success", "failed": "danger", "dropped": "warning"},
    )
    def state(self, email: OutgoingEmail) -> str:
        return email.outcome or "waiting"

    def may_act_on(self, request: HttpRequest, record: Any) -> bool:
        """Operators' mails, too: a mail that is sent again goes to the same address."""
        return self.has_act_permission(request)

    @action(description="Send again", icon="forward_to_inbox", permissions=["act"])
    def send_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SendAgain)
