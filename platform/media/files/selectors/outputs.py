"""Reads models' files: by their links, and how much room they take."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from media.files.errors import FileGone
from media.files.models import StorageUse, StoredFile
from media.files.selectors.links import check_link, check_version


def find_by_link(*, name: str, expires: str, version: str, signature: str) -> StoredFile:
    """The file of a link. Raises LinkNotValid, LinkExpired, LinkRevoked or FileGone.

    It is gone while its owner's account is closed.
    """
    check_link(name=name, expires=expires, version=version, signature=signature)
    file_id, _, _ = name.partition(".")
    live = Q(expires_at=None) | Q(expires_at__gt=Now())
    files = StoredFile.objects.filter(live, pk=UUID(file_id), taken_down_at=None)
    file = files.select_related("account").first()
    if file is None or not file.account.is_active:
        raise FileGone
    check_version(version, file.account.token_version)
    return file


def storage_used(account_id: UUID) -> int:
    """The bytes of the account's kept files, thumbnails included."""
    return StorageUse.objects.filter(pk=account_id).values_list("bytes", flat=True).first() or 0


def studio_retention() -> timedelta | None:
    """How long files of studios are kept; None is for ever."""
    days: int = settings.STUDIO_RETENTION_DAYS
    return timedelta(days=days) if days else None
