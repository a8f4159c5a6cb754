"""Sessions of the web app in the admin. Token ids are never shown."""

from datetime import datetime
from http import HTTPStatus

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.admin.acts import EndSession
from accounts.models import UserSession
from admin_ui.acts import Acting
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import action, display


@admin.register(UserSession)
class UserSessionAdmin(ReadOnly, OfAnAccount, Acting):
    """The sessions of users. Ended sessions are not kept."""

    list_display = ("shown_client", "account", "client_ip", "created_at", "last_used_at")
    ordering = ("-pk",)
    fields = ("shown_client", "account", "client_ip", "created_at", "last_used_at", "id")
    readonly_fields = ("shown_client", "last_used_at")
    actions_detail = ("end",)

    @display(description="client")
    def shown_client(self, session: UserSession) -> str:
        return session.client or "unknown"

    @display(description="last used", ordering="rotated_at")
    def last_used_at(self, session: UserSession) -> datetime:
        """The time of the last tokens."""
        return session.rotated_at

    @action(description="End session", icon="logout", permissions=["act"])
    def end(self, request: HttpRequest, object_id: str) -> HttpResponse:
        response = self.act(request, object_id, EndSession)
        is_done = response.status_code == HTTPStatus.FOUND
        # The session's page is gone with the session.
        return redirect("admin:accounts_usersession_changelist") if is_done else response
