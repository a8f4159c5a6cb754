"""The kinds of stored files, their names, and the limits of uploads."""

from uuid import UUID

# The export of an account's data.
EXPORT = "application/zip"
# The media types of stored files. A browser runs nothing in them, and saves an export.
EXTENSIONS = {
    EXPORT: "zip",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "model/gltf-binary": "glb",
    "video/mp4": "mp4",
}

# The types of uploads that are text, and of those with an unknown type.
TEXT = "text/plain"
UNKNOWN = "application/octet-stream"
# Other types of uploads are served as mere bytes: a browser might run them.
_SHOWN = ("image/", "audio/", "video/", "application/pdf")

MAX_UPLOADS = 10_000  # of an account
MAX_UPLOAD_NAME = 255  # characters
# An upload without an attachment is deleted after this time.
UPLOAD_SECONDS = 24 * 3600
# Of a picture that a model is given. It is in memory while it is submitted.
MAX_PICTURE_BYTES = 10_000_000
MAX_PICTURE_SIDE = 8_192
MAX_PICTURE_PIXELS = 20_000_000


def file_name(file_id: UUID, media_type: str) -> str:
    """The name of a file, here and in links: `{id}.{extension}`.

    Raises KeyError for a media type that is not stored.
    """
    return f"{file_id}.{EXTENSIONS[media_type]}"


def disposition(name: str, media_type: str) -> str:
    """The Content-Disposition with which a stored file is served."""
    kind = "attachment" if media_type == EXPORT else "inline"
    return f'{kind}; filename="{name}"'


def storage_path(name: str) -> str:
    """The path of a file in the storage: in one of 256 folders, so that none gets too full."""
    stem, _, _ = name.partition(".")
    return f"{stem[-2:]}/{name}"


def inert_type(media_type: str) -> str:
    """The Content-Type with which an upload of that media type is served."""
    if media_type == TEXT:
        return f"{TEXT}; charset=utf-8"
    is_shown = media_type.startswith(_SHOWN) and not media_type.endswith("+xml")
    return media_type if is_shown else UNKNOWN


def is_reference_size(width: int, height: int) -> bool:
    """Can models be given a picture of so many pixels?"""
    return max(width, height) <= MAX_PICTURE_SIDE and width * height <= MAX_PICTURE_PIXELS
