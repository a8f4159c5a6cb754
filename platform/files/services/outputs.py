"""Stores models' files, and purges expired ones."""

import asyncio
from datetime import timedelta
from uuid import UUID

import structlog
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db.models.functions import Now
from django.utils import timezone

from common.database import get_database
from common.ids import uuid7
from files.errors import StorageUnavailable
from files.models import StoredFile
from files.types import file_name, storage_path

log = structlog.get_logger(__name__)

RETRY = timedelta(hours=1)

_INSERT = """
INSERT INTO files_storedfile (id, account_id, media_type, size, expires_at)
VALUES (%s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING id"""


async def store(*, account_id: UUID, data: bytes, media_type: str, keep_seconds: int) -> str:
    """Store a file for that many seconds; returns its name.

    Raises StorageUnavailable, DatabaseUnavailable, or KeyError for a media type that is not stored.
    """
    file_id = uuid7()
    name = file_name(file_id, media_type)
    # The row comes first, so that the remains of a failed write are purged like any other file.
    # Nobody can read it before, because nobody knows its name.
    await get_database().rows(_INSERT, (file_id, account_id, media_type, len(data), keep_seconds))
    try:
        await asyncio.to_thread(storages["outputs"].save, storage_path(name), ContentFile(data))
    except OSError as error:
        log.exception("file.not_stored", name=name)
        raise StorageUnavailable from error
    return name


def purge_expired(*, limit: int = 1000) -> int:
    """Delete expired files, the oldest first, at most `limit`. Returns how many.

    A file that cannot be deleted now is tried again in an hour, and does not delay others.
    """
    purged = 0
    expired = StoredFile.objects.filter(expires_at__lt=Now()).order_by("expires_at")
    for file in expired[:limit]:
        try:
            delete(file=file)
        except StorageUnavailable:
            file.expires_at = timezone.now() + RETRY
            file.save(update_fields=["expires_at"])
            continue
        purged += 1
    return purged


def delete(*, file: StoredFile) -> None:
    """Delete a file, its bytes first. Raises StorageUnavailable, and then keeps the row."""
    try:
        storages["outputs"].delete(storage_path(file.name))
    except OSError as error:
        log.exception("file.not_deleted", name=file.name)
        raise StorageUnavailable from error
    file.delete()
