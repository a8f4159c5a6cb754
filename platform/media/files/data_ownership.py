"""What accounts own of this app (`common.ownership`)."""

from collections.abc import Mapping
from typing import Any

from common.ownership import Delete, Keep, Owned, StoredBytes
from media.files.models import StorageUse, StoredFile, Upload
from media.files.services.outputs import erase_all as erase_outputs
from media.files.services.uploads import erase_all as erase_uploads
from media.files.types import EXPORT, file_name, storage_path


def _output(row: Mapping[str, Any]) -> StoredBytes | None:
    """An export does not contain the exports before it."""
    if row["taken_down_at"] is not None or row["media_type"] == EXPORT:
        return None
    name = file_name(row["id"], row["media_type"])
    return StoredBytes("outputs", storage_path(name), name)


def _upload(row: Mapping[str, Any]) -> StoredBytes | None:
    if row["taken_down_at"] is not None:
        return None
    return StoredBytes("uploads", storage_path(str(row["id"])), f"{row['id']} {row['name']}")


OWNED = (
    Owned(
        StoredFile,
        owners=("account",),
        exported="id media_type size created_at expires_at is_kept thumbnail_of_id taken_down_at",
        left_out="account_id",
        on_deletion=Delete(erase=erase_outputs),
        file=_output,
    ),
    Owned(
        StorageUse,
        owners=("account",),
        exported="bytes",
        left_out="account_id",
        on_deletion=Keep("A trigger counts it down to 0 as the files are deleted."),
    ),
    Owned(
        Upload,
        owners=("account",),
        exported="id name media_type is_text size created_at expires_at taken_down_at",
        left_out="account_id",
        on_deletion=Delete(erase=erase_uploads),
        file=_upload,
    ),
)
