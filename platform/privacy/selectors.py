"""Reads exports."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from common.errors import NotFound
from media.files.models import StoredFile
from media.files.selectors.links import steady_url
from privacy.models import Export

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
    mine = Export.objects.filter(account=user).select_related("file", "account")
    export = mine.order_by("-pk").first()
    if export is None:
        raise NotFound("There is no export of this account's data. Begin one with a POST.")
    return state_of(export)


def state_of(export: Export) -> ExportState:
    """The state now: a completed export expires with its file."""
    is_completed, file = export.status == Export.Status.COMPLETED, export.file
    is_there = is_completed and file is not None and _is_live(file)
    version = export.account.token_version
    url = steady_url(file.name, version=version) if file and is_there else None
    return ExportState(
        id=export.pk,
        status=EXPIRED if is_completed and url is None else export.status,
        size=export.size,
        url=url,
        created_at=export.created_at,
        ended_at=export.ended_at,
        expires_at=export.expires_at,
    )


def _is_live(file: StoredFile) -> bool:
    """Can it be downloaded? What it has a copy of may have been taken down."""
    is_over = file.expires_at is not None and file.expires_at <= timezone.now()
    return file.taken_down_at is None and not is_over
