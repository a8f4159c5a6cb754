"""Stores models' files, takes them down, and purges expired ones."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.dispatch import Signal
from django.utils import timezone

from common.database import get_database
from common.ids import uuid7
from media.files.errors import StorageUnavailable
from media.files.models import StoredFile
from media.files.services.exported_copies import withdraw_exports
from media.files.types import file_name, storage_path

log = structlog.get_logger(__name__)

RETRY = timedelta(hours=1)
# Sent with `file_ids`, those of the files and of their thumbnails, within the transaction of a
# takedown: first, so that receivers lock the rows that show the files, which come before files; and
# last, so that they tell of the change.
taking_down = Signal()
taken_down = Signal()

_INSERT = """
INSERT INTO files_storedfile (id, account_id, media_type, size, thumbnail_of_id, expires_at)
VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING id"""


async def store(*, account_id: UUID, data: bytes, media_type: str, keep_seconds: int) -> str:
    """Store a file for that many seconds; returns its name.

    Raises StorageUnavailable, DatabaseUnavailable, or KeyError for a media type that is not stored.
    """
    file_id = await store_file(
        account_id=account_id,
        content=ContentFile(data),
        media_type=media_type,
        keep_seconds=keep_seconds,
    )
    return file_name(file_id, media_type)


async def store_file(
    *,
    account_id: UUID,
    content: File[bytes],
    media_type: str,
    keep_seconds: int,
    thumbnail_of: UUID | None = None,
) -> UUID:
    """Store the content of an open file for that many seconds, piece by piece; returns its id.

    Raises as `store` does.
    """
    file_id = uuid7()
    name = file_name(file_id, media_type)
    # The row comes first, so that the remains of a failed write are purged like any other file.
    # Nobody can read it before, because nobody knows its name.
    row = (file_id, account_id, media_type, content.size, thumbnail_of, keep_seconds)
    await get_database().rows(_INSERT, row)
    try:
        await asyncio.to_thread(storages["outputs"].save, storage_path(name), content)
    except OSError as error:
        log.exception("file.not_stored", name=name)
        raise StorageUnavailable from error
    return file_id


@transaction.atomic
def take_down(*, file: StoredFile) -> bool:
    """Delete the bytes of a file and of its thumbnails, and keep the rows: links answer that they
    are gone, and so do those to exports that may contain it. Sends `taking_down` and `taken_down`.
    Was it there?

    Raises StorageUnavailable.
    """
    held = StoredFile.objects.filter(Q(pk=file.pk) | Q(thumbnail_of=file.pk), taken_down_at=None)
    taking_down.send(sender=StoredFile, file_ids=list(held.values_list("pk", flat=True)))
    files = list(held.order_by("pk").select_for_update())
    for each in files:
        _erase(each)
        each.taken_down_at = timezone.now()
        each.save(update_fields=["taken_down_at"])
    if files:
        withdraw_exports(account_id=file.account_id, since=file.created_at)
        taken_down.send(sender=StoredFile, file_ids=[each.pk for each in files])
    return bool(files)


def purge_expired(*, limit: int = 1000) -> int:
    """Delete expired files, the oldest first, at most `limit`. Returns how many.

    A file that cannot be deleted now is tried again in an hour, and does not delay others.
    """
    purged = 0
    expired = StoredFile.objects.filter(expires_at__lt=Now()).order_by("expires_at")
    for file in expired[:limit]:
        try:
            _erase(file)
        except StorageUnavailable:
            file.expires_at = timezone.now() + RETRY
            file.save(update_fields=["expires_at"])
            continue
        file.delete()
        purged += 1
    return purged


def erase_all(files: Sequence[StoredFile]) -> None:
    """Delete the bytes of files whose rows the caller deletes. Raises StorageUnavailable."""
    for file in files:
        _erase(file)


def _erase(file: StoredFile) -> None:
    """Delete the bytes of a file. Raises StorageUnavailable."""
    try:
        storages["outputs"].delete(storage_path(file.name))
    except OSError as error:
        log.exception("file.not_deleted", name=file.name)
        raise StorageUnavailable from error
