"""Workspaces whose token is dead."""

from django.db import transaction
from django.db.models.functions import Now

from events.services import append_to_user
from workspaces.models import Workspace
from workspaces.user_events import updated


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
