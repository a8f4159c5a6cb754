"""Mails in the admin: waiting, sent and failed ones. Their texts are not kept."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.admin.acts import CancelMail, SendAgain
from accounts.models import OutgoingEmail
from accounts.services import email_kinds, emails
from admin_ui.acts import Acting
from admin_ui.pages import ReadOnly
from admin_ui.theme import DropdownFilter, action, display


class StateFilter(DropdownFilter):
    """Mails that wait, have been sent, were given up after MAX_ATTEMPTS, or were dropped."""

    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("waiting", "Waiting"), *OutgoingEmail.Outcome.choices]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[OutgoingEmail]
    ) -> QuerySet[OutgoingEmail]:
        state = self.value()
        if state == "waiting":
            return queryset.filter(ended_at=None)
        return queryset.filter(outcome=state) if state in OutgoingEmail.Outcome.values else queryset


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

    list_display = ("created_at", "kind", "address", "state", "attempts", "due_at", "error")
    list_filter = (StateFilter, KindFilter)
    search_fields: ClassVar[tuple[str, ...]] = ("^address",)
    search_help_text = "An address, or its beginning"
    ordering = ("-pk",)
    fields = ("kind", "address", "state", "attempts", "error", "created_at", "due_at", "ended_at")
    readonly_fields = ("state",)
    actions = ("send_all_again", "cancel_all")
    actions_detail = ("send_again", "cancel")

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

    @action(description="Cancel", icon="cancel_schedule_send", permissions=["act"])
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, CancelMail)

    @admin.action(description="Send the selected mails again", permissions=["act"])
    def send_all_again(self, request: HttpRequest, queryset: QuerySet[OutgoingEmail]) -> None:
        self._do_to_all(request, queryset, emails.send_again, "Sent again")

    @admin.action(description="Cancel the selected mails", permissions=["act"])
    def cancel_all(self, request: HttpRequest, queryset: QuerySet[OutgoingEmail]) -> None:
        self._do_to_all(request, queryset, emails.cancel, "Cancelled")

    def _do_to_all(
        self,
        request: HttpRequest,
        queryset: QuerySet[OutgoingEmail],
        act: Callable[..., bool],
        done: str,
    ) -> None:
        """Those for which the act changes nothing are left alone."""
        count = 0
        for email in queryset:
            with transaction.atomic():
                if act(email=email):
                    self.log_change(request, email, f"{done}, with others.")
                    count += 1
        messages.success(request, f"{done}: {count} of {len(queryset)}.")
