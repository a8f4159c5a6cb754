"""Workspaces whose token is dead, or whose connector changes."""

from django.db import transaction
from django.db.models.functions import Now

from events.services import append_to_user
from integrations.connectors.models import Connector
from integrations.connectors.types import ConnectorStatus
from integrations.workspaces.models import Workspace
from integrations.workspaces.user_events import deleted, updated


@transaction.atomic
def note_refusal(*, workspace: Workspace) -> None:
    """Note that the host refuses the token of a workspace, unless the token has been replaced
    meanwhile."""
    row = Workspace.objects.select_for_update(no_key=True).filter(pk=workspace.pk).first()
    if row is None or row.token != workspace.token or row.refused_at is not None:
        return
    row.refused_at = Now()
    row.save(update_fields=["refused_at"])
    row.refresh_from_db()
    append_to_user(user_id=row.account_id, events=[updated(row)])


def follow_connector(connector: Connector, **_: object) -> None:
    """The receiver of `connector_changed`: what stands on a connector shares its state, and ends
    with it."""
    rows = Workspace.objects.select_for_update(no_key=True).filter(connector=connector)
    for row in rows.order_by("pk"):
        if connector.disconnected_at is not None:
            event = deleted(row.pk)
            row.delete()
        else:
            needs_reauth = connector.status == ConnectorStatus.NEEDS_REAUTH
            row.refused_at = connector.refused_at if needs_reauth else None
            row.expires_at = connector.ends_at
            row.scopes, row.checked_at = connector.scopes, Now()
            row.save()
            row.refresh_from_db()
            event = updated(row)
        append_to_user(user_id=row.account_id, events=[event])
