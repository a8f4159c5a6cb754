"""Reads exports."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from common.errors import NotFound
from files.selectors.links import steady_url
from files.types import EXPORT, file_name
from userdata.models import Export

EXPIRED = "expired"
STATUSES = [*Export.Status.values, EXPIRED]


@dataclass(frozen=True, slots=True)
class ExportState:
    """An export as its owner sees it. `url` is None where there is nothing to download."""

    id: UUID
    status: str
    size: int | None
    url: str | None
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None


def get_latest_export(user: User) -> ExportState:
    """The user's latest export. Raises NotFound."""
    export = Export.objects.filter(account=user).order_by("-pk").first()
    if export is None:
        raise NotFound("There is no export of this account's data. Begin one with a POST.")
    return state_of(export)


def state_of(export: Export) -> ExportState:
    """The state now: a completed export expires."""
    is_over = export.status == Export.Status.COMPLETED and (
        export.file_id is None or export.expires_at is None or export.expires_at <= timezone.now()
    )
    can_be_fetched = export.status == Export.Status.COMPLETED and not is_over
    return ExportState(
        id=export.pk,
        status=EXPIRED if is_over else export.status,
        size=export.size,
        url=_url(export.file_id) if can_be_fetched and export.file_id else None,
        created_at=export.created_at,
        ended_at=export.ended_at,
        expires_at=export.expires_at,
    )


def _url(file_id: UUID) -> str:
    return steady_url(file_name(file_id, EXPORT))
