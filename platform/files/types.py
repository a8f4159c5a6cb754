"""The kinds of files that are stored, what a file is called, and the bounds of uploads."""

from uuid import UUID

# Media types that a browser shows without running anything in them.
EXTENSIONS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
}

MAX_UPLOADS = 10_000  # of an account
MAX_UPLOAD_NAME = 255  # characters
# What is attached to nothing by then is deleted.
UPLOAD_SECONDS = 24 * 3600


def file_name(file_id: UUID, media_type: str) -> str:
    """What a file is called, here and in links: `{id}.{extension}`.

    Raises KeyError for a media type that is not stored.
    """
    return f"{file_id}.{EXTENSIONS[media_type]}"


def storage_path(name: str) -> str:
    """Where a file lies in the storage: in one of 256 folders, so that none gets too full."""
    stem, _, _ = name.partition(".")
    return f"{stem[-2:]}/{name}"
