"""The copies of files in exports of their account's data, which are files themselves: a takedown
ends them as well."""

from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from media.files.models import StoredFile, Upload
from media.files.types import EXPORT


def withdraw_exports(*, account_id: UUID, since: datetime) -> None:
    """Let the next sweep purge the account's exports from that moment on, within the caller's
    transaction, which has locked no later file. Links to them answer that they are gone."""
    rows = StoredFile.objects.filter(
        account_id=account_id, media_type=EXPORT, created_at__gte=since, taken_down_at=None
    )
    list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))
    rows.update(expires_at=Now())


def was_taken_down(*, account_id: UUID, since: datetime) -> bool:
    """Was any file of the account taken down since that moment? An export that was being written
    then may have it."""
    return any(
        model._default_manager.filter(account_id=account_id, taken_down_at__gte=since).exists()
        for model in (StoredFile, Upload)
    )
