"""The kinds of files that are stored, and what a file is called."""

from uuid import UUID

# Media types that a browser shows without running anything in them.
EXTENSIONS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
}


def file_name(file_id: UUID, media_type: str) -> str:
    """What a file is called, here and in links: `{id}.{extension}`.

    Raises KeyError for a media type that is not stored.
    """
    return f"{file_id}.{EXTENSIONS[media_type]}"


def storage_path(name: str) -> str:
    """Where a file lies in the storage: in one of 256 folders, so that none gets too full."""
    stem, _, _ = name.partition(".")
    return f"{stem[-2:]}/{name}"
