"""Stores, attaches, releases and deletes users' uploads."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import cast
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files import File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Exists, Model, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from common.errors import NotFound
from common.filenames import harmless
from common.locks import hold
from media.files.errors import (
    UPLOAD_IDS,
    Loc,
    StorageUnavailable,
    UploadInUse,
    UploadNotFound,
    UploadQuotaExceeded,
)
from media.files.models import Upload
from media.files.selectors.uploads import live, usage_of
from media.files.services.exported_copies import withdraw_exports
from media.files.sniffing import Kind, sniff
from media.files.types import MAX_UPLOAD_NAME, MAX_UPLOADS, UPLOAD_SECONDS, storage_path

log = structlog.get_logger(__name__)

RETRY = timedelta(hours=1)
_NO_PLACES: Mapping[UUID, Loc] = MappingProxyType({})


def store(*, user: AbstractBaseUser, name: str, file: File[bytes]) -> Upload:
    """Store a file; it expires after a day unless it is attached by then.

    Raises UploadQuotaExceeded, StorageUnavailable.
    """
    name = harmless(name, limit=MAX_UPLOAD_NAME, otherwise="file")
    # The row comes first, so that the remains of a failed write are purged like any other file.
    upload = _register(user, name, file.size, sniff(file.chunks()))
    try:
        storages["uploads"].save(storage_path(str(upload.pk)), file)
    except OSError as error:
        log.exception("upload.not_stored", upload=str(upload.pk))
        # An upload that is attached by now does not expire.
        Upload.objects.filter(pk=upload.pk, expires_at__gt=Now()).update(expires_at=Now())
        _erase_unwanted(upload)
        raise StorageUnavailable from error
    _erase_unwanted(upload)
    return upload


@transaction.atomic
def _register(user: AbstractBaseUser, name: str, size: int, kind: Kind) -> Upload:
    # Uploads of one account take turns here, so that two cannot both pass the quota.
    hold("files.uploads", str(user.pk))
    used = usage_of(user)
    limit = {"files": MAX_UPLOADS, "bytes": settings.UPLOAD_QUOTA_MB * 1_000_000}
    if used["files"] >= limit["files"] or used["bytes"] + size > limit["bytes"]:
        raise UploadQuotaExceeded(used=used, limit=limit)
    expires_at = timezone.now() + timedelta(seconds=UPLOAD_SECONDS)
    return Upload.objects.create(
        account_id=user.pk,
        name=name,
        media_type=kind.media_type,
        is_text=kind.is_text,
        size=size,
        expires_at=expires_at,
    )


@transaction.atomic
def _erase_unwanted(upload: Upload) -> None:
    """Delete the bytes of an upload that was deleted or taken down while it was being written.
    Raises StorageUnavailable."""
    held = Upload.objects.select_for_update().filter(pk=upload.pk).first()
    if held is None or held.taken_down_at is not None:
        _erase(upload)


def attach(*, uploads: Sequence[Upload], places: Mapping[UUID, Loc] = _NO_PLACES) -> None:
    """Keep uploads as long as their attachment, within the caller's transaction. `places` are where
    the body names them, `upload_ids` where nothing is said.

    Raises UploadNotFound where one has been deleted since it was read.
    """
    upload_ids = [upload.pk for upload in uploads]
    held = live().filter(pk__in=upload_ids).order_by("pk").select_for_update(no_key=True)
    found = {upload.pk for upload in held}
    for upload_id in upload_ids:
        if upload_id not in found:
            raise UploadNotFound(places.get(upload_id, UPLOAD_IDS))
    Upload.objects.filter(pk__in=upload_ids).update(expires_at=None)


def release(*, upload_ids: Collection[UUID]) -> None:
    """Let uploads expire, within the transaction that has deleted their attachments. An upload to
    which any row of any app still refers is kept."""
    rows = Upload.objects.filter(pk__in=upload_ids)
    # A concurrent attachment is committed by now, or will not find the upload.
    list(rows.order_by("pk").select_for_update(no_key=True))
    for relation in Upload._meta.related_objects:
        model = cast("type[Model]", relation.related_model)
        attached = model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
        rows = rows.exclude(Exists(attached))
    rows.update(expires_at=Now())


def delete(*, user: AbstractBaseUser, upload_id: UUID) -> None:
    """Delete an upload, its bytes first. Raises NotFound, UploadInUse, StorageUnavailable."""
    with transaction.atomic():
        upload = live().filter(account_id=user.pk, pk=upload_id).select_for_update().first()
        if upload is None:
            raise NotFound
        if upload.expires_at is None:
            raise UploadInUse
        _erase(upload)
        upload.delete()


@transaction.atomic
def take_down(*, upload: Upload) -> bool:
    """Delete the bytes of an upload and keep its row, which a message may show. Exports that may
    contain it are gone. Was it there?

    Raises StorageUnavailable.
    """
    held = Upload.objects.select_for_update().filter(pk=upload.pk).first()
    if held is None or held.taken_down_at is not None:
        return False
    _erase(held)
    held.taken_down_at, held.is_text = timezone.now(), False
    held.save(update_fields=["taken_down_at", "is_text"])
    withdraw_exports(account_id=held.account_id, since=held.created_at)
    return True


def purge_expired(*, limit: int = 1000) -> int:
    """Delete expired uploads, the oldest first, at most `limit`. Returns how many.

    An upload that cannot be deleted now is tried again in an hour, and does not delay others.
    """
    expired = Upload.objects.filter(expires_at__lte=Now()).order_by("expires_at")
    return sum(_purge(upload_id) for upload_id in expired.values_list("pk", flat=True)[:limit])


@transaction.atomic
def _purge(upload_id: UUID) -> bool:
    expired = Upload.objects.filter(pk=upload_id, expires_at__lte=Now())
    upload = expired.select_for_update(skip_locked=True).first()
    if upload is None:
        return False
    try:
        _erase(upload)
    except StorageUnavailable:
        upload.expires_at = timezone.now() + RETRY
        upload.save(update_fields=["expires_at"])
        return False
    upload.delete()
    return True


def erase_all(uploads: Sequence[Upload]) -> None:
    """Delete the bytes of uploads whose rows the caller deletes. Raises StorageUnavailable."""
    for upload in uploads:
        _erase(upload)


def _erase(upload: Upload) -> None:
    try:
        storages["uploads"].delete(storage_path(str(upload.pk)))
    except OSError as error:
        log.exception("upload.not_deleted", upload=str(upload.pk))
        raise StorageUnavailable from error
