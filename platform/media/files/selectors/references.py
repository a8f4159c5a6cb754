"""Reads the uploads and results that models are given as pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO
from uuid import UUID

from django.core.files.storage import storages
from django.utils.timezone import now
from msgspec import Struct

from common.errors import ValidationFailed
from media.files.errors import Loc, ResultNotKept, StorageUnavailable, UploadNotFound
from media.files.models import StoredFile, Upload
from media.files.selectors.uploads import live
from media.files.types import (
    MAX_PICTURE_BYTES,
    MAX_PICTURE_PIXELS,
    MAX_PICTURE_SIDE,
    is_reference_size,
    storage_path,
)
from media.probe.errors import UnusableMedia
from media.probe.headers import read_header
from media.probe.inspecting import inspect_upload

_LIMIT = (
    f"A reference has at most {MAX_PICTURE_SIDE:,} pixels a side, and "
    f"{MAX_PICTURE_PIXELS // 1_000_000} million in all."
)
_NO_PICTURE = "This is no PNG, JPEG or WebP picture."
_MAX_MB = MAX_PICTURE_BYTES // 1_000_000


class Reference(Struct, frozen=True):
    """An upload or a result that is a picture, and its media type by its own header."""

    file: Upload | StoredFile
    media_type: str


def find_reference(account_id: UUID, upload_id: UUID, *, loc: Loc = ("upload_id",)) -> Reference:
    """The account's upload as a picture that a model can be given. Only its header is read. `loc`
    is where the body names the upload.

    Raises UploadNotFound; ValidationFailed for what is no PNG, JPEG or WebP of at most
    MAX_PICTURE_BYTES, MAX_PICTURE_SIDE pixels a side and MAX_PICTURE_PIXELS in all;
    StorageUnavailable.
    """
    upload = live().filter(account_id=account_id, pk=upload_id, taken_down_at=None).first()
    if upload is None:
        raise UploadNotFound(loc)
    return _checked(upload, loc)


def find_result(file: StoredFile | None, *, loc: Loc) -> Reference:
    """The same of a result; None is one whose file is not kept. Raises ResultNotKept, and what
    `find_reference` raises."""
    if file is None or file.taken_down_at or (file.expires_at and file.expires_at <= now()):
        raise ResultNotKept(loc)
    if not file.media_type.startswith("image/"):
        raise ValidationFailed.at(loc, _NO_PICTURE)
    return _checked(file, loc)


def check_decodable(upload: Upload, *, loc: Loc = ("upload_id",)) -> None:
    """Decode a picture to its end, in a process without any power: it blocks for as long. `loc` is
    where the body names the upload.

    Raises ValidationFailed for one that is damaged or cut off, UploadNotFound, StorageUnavailable,
    and ServiceUnavailable where there is no time or place for it.
    """
    with _opened(upload, loc) as stored, _copied(stored) as file:
        try:
            inspect_upload(file, "image", owner=upload.account_id)
        except UnusableMedia:
            problem = "The picture cannot be decoded: it is damaged or cut off."
            raise ValidationFailed.at(loc, problem) from None


def read_reference(reference: Reference) -> bytes:
    """The whole picture. Raises UploadNotFound, ResultNotKept, StorageUnavailable."""
    with _opened(reference.file, ("upload_id",)) as file:
        return file.read()


def _checked(picture: Upload | StoredFile, loc: Loc) -> Reference:
    if picture.size > MAX_PICTURE_BYTES:
        raise ValidationFailed.at(loc, f"A reference has at most {_MAX_MB} MB.")
    with _opened(picture, loc) as file:
        header = read_header(file)
    if header is None:
        raise ValidationFailed.at(loc, _NO_PICTURE)
    if not is_reference_size(header.width, header.height):
        size = f"{header.width:,} x {header.height:,} pixels"
        raise ValidationFailed.at(loc, f"It has {size}. {_LIMIT}")
    return Reference(picture, header.media_type)


@contextmanager
def _copied(stored: IO[bytes]) -> Iterator[IO[bytes]]:
    """A copy that the operating system knows: what is stored may be in a bucket."""
    with TemporaryFile() as file:
        copyfileobj(stored, file)
        file.flush()
        yield file


@contextmanager
def _opened(picture: Upload | StoredFile, loc: Loc) -> Iterator[IO[bytes]]:
    is_upload = isinstance(picture, Upload)
    storage = storages["uploads" if is_upload else "outputs"]
    name = str(picture.pk) if is_upload else picture.name
    try:
        with storage.open(storage_path(name)) as file:
            yield file
    except FileNotFoundError:
        raise (UploadNotFound(loc) if is_upload else ResultNotKept(loc)) from None
    except OSError as error:
        raise StorageUnavailable from error
