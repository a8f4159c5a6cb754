"""Connectors in the operators' admin: accounts and states, never tokens."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui.filters import PeriodFilter
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.theme import display
from integrations.connectors.models import Connector


@admin.register(Connector)
class ConnectorAdmin(ReadOnly, OfAnAccount):
    """Read only: only its user connects an account. Those that are disconnected and not revoked yet
    are listed too."""

    list_display = ("created_at", "id", "account", "provider", "login", "shown_status")
    list_filter: ClassVar[Any] = (PeriodFilter, ("provider", ChoicesDropdownFilter))
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        *("id", "account", "provider", "base_url", "login", "shown_status", "scopes"),
        *("expires_at", "refused_at", "disconnected_at", "created_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Connector]:
        return Connector.with_disconnected.select_related("account")

    @display(
        description="Status",
        label={"connected": "success", "needs_reauth": "danger", "to be revoked": "warning"},
    )
    def shown_status(self, connector: Connector) -> str:
        return connector.status if connector.disconnected_at is None else "to be revoked"
