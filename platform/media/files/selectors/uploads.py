"""Reads users' uploads."""

import io
from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.storage import storages
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Now

from common.errors import NotFound
from media.files.errors import FileGone, StorageUnavailable, UploadNotFound
from media.files.models import Upload
from media.files.selectors.links import check_link, steady_url
from media.files.types import storage_path


def live() -> QuerySet[Upload]:
    """The uploads of all users that have not expired."""
    return Upload.objects.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))


def list_uploads(user: AbstractBaseUser) -> QuerySet[Upload]:
    """The user's uploads."""
    return live().filter(account_id=user.pk)


def get_upload(user: AbstractBaseUser, upload_id: UUID) -> Upload:
    """The user's upload. Raises NotFound."""
    upload = list_uploads(user).filter(pk=upload_id).first()
    if upload is None:
        raise NotFound
    return upload


def get_uploads(user: AbstractBaseUser, upload_ids: Sequence[UUID]) -> list[Upload]:
    """The user's uploads, in the order of `upload_ids`.

    Raises UploadNotFound for the first missing one, with its index in `upload_ids`.
    """
    found = list_uploads(user).in_bulk(upload_ids) if upload_ids else {}
    for index, upload_id in enumerate(upload_ids):
        if upload_id not in found:
            raise UploadNotFound(("upload_ids", index))
    return [found[upload_id] for upload_id in upload_ids]


def usage_of(user: AbstractBaseUser) -> dict[str, int]:
    """The number and size of the user's uploads: `{files, bytes}`."""
    return list_uploads(user).aggregate(files=Count("pk"), bytes=Coalesce(Sum("size"), 0))


def read_text(upload: Upload, *, limit_characters: int) -> str:
    """The beginning of a text upload, without byte order mark.

    Raises FileGone, StorageUnavailable.
    """
    try:
        with storages["uploads"].open(storage_path(str(upload.pk))) as file:
            # The read is bounded, and may end in the middle of a character.
            text = io.TextIOWrapper(file, "utf-8-sig", errors="replace")
            return text.read(limit_characters)
    except FileNotFoundError:
        raise FileGone from None
    except OSError as error:
        raise StorageUnavailable from error


def download_url(upload: Upload) -> str:
    """An absolute link to an upload, which works for a day, and is the same for an hour."""
    return steady_url(_link_name(upload.pk))


def find_by_link(*, upload_id: UUID, expires: str, signature: str) -> Upload:
    """The upload of a link. Raises LinkNotValid, LinkExpired or FileGone.

    It is gone when its attachment is deleted, and while its owner's account is closed.
    """
    name = _link_name(upload_id)
    check_link(name=name, expires=expires, version="", signature=signature)
    upload = live().filter(pk=upload_id).select_related("account").first()
    if upload is None or not upload.account.is_active:
        raise FileGone
    return upload


def _link_name(upload_id: UUID) -> str:
    return f"uploads/{upload_id}"
