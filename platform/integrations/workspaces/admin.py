"""Workspaces in the operators' admin: hosts and states, never tokens."""

from typing import Any, ClassVar

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui.filters import PeriodFilter
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import display
from integrations.workspaces.models import Workspace


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnly, OfAnAccount):
    """Read only: only its user connects a workspace."""

    list_display = ("created_at", "id", "account", "provider", "host", "login", "shown_status")
    list_filter: ClassVar[Any] = (PeriodFilter, ("provider", ChoicesDropdownFilter))
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        *("id", "account", "provider", "host", "connector_id", "login", "shown_status"),
        *("scopes", "expires_at", "refused_at", "checked_at", "created_at"),
    )

    @display(description="Host")
    def host(self, workspace: Workspace) -> str:
        return workspace.base_url or f"{workspace.provider}.com"

    @display(description="Status", label={"connected": "success", "needs_reauth": "danger"})
    def shown_status(self, workspace: Workspace) -> str:
        return workspace.status
