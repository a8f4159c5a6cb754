"""Stores the results of providers that make media, after a look at what they are."""

import asyncio
from collections.abc import AsyncIterable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from io import BytesIO
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import IO
from uuid import UUID

import structlog
from django.core.files import File
from django.core.files.base import ContentFile
from django.db.models import Case, F, Q, UUIDField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.utils import timezone
from msgspec import Struct

from common.errors import ServiceUnavailable
from media.files.errors import FileGone, StorageUnavailable
from media.files.models import StoredFile
from media.files.services.outputs import store, store_file
from media.files.types import is_reference_size
from media.probe import inspecting
from media.probe.errors import UnusableMedia
from media.probe.headers import read_header
from media.probe.types import Inspected, MediaKind

log = structlog.get_logger(__name__)

# A result that nobody keeps by then is purged: its operation has ended long ago.
UNKEPT_SECONDS = 24 * 3600


class StoredMedia(Struct, frozen=True):
    """A stored result. `size` is in bytes, `seconds` the length of a video; a 3D model has neither
    width and height, in pixels, nor a thumbnail."""

    file_id: UUID
    thumbnail_id: UUID | None
    media_type: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None


async def store_result(
    *, account_id: UUID, pieces: AsyncIterable[bytes], kind: MediaKind, limit: int
) -> StoredMedia:
    """Store a result of at most `limit` bytes, and a thumbnail of it, once it is found to be a
    usable file of its kind. It takes no more memory than a piece; both expire in a day unless
    `keep` keeps them.

    Raises UnusableMedia, StorageUnavailable (also where there is no time to inspect it),
    DatabaseUnavailable, and what `pieces` raises.
    """
    with ExitStack() as kept:
        with _on_disk():
            file = kept.enter_context(TemporaryFile())
        size = await _receive(pieces, file, limit)
        inspected = await _inspect(file, kind)
        return await _store(account_id, file, size, inspected)


async def store_picture(*, account_id: UUID, data: bytes, keep_seconds: int) -> str:
    """Store a picture for that many seconds, as it is, once it is found to be one that can be
    decoded; returns its name. Raises UnusableMedia, also for more pixels than a reference may have,
    and as `store_result` does."""
    header = read_header(BytesIO(data))
    if header is None or not is_reference_size(header.width, header.height):
        raise UnusableMedia("It is no PNG, JPEG or WebP picture, or too large.")
    with ExitStack() as kept:
        with _on_disk():
            file = kept.enter_context(TemporaryFile())
            await asyncio.to_thread(file.write, data)
            await asyncio.to_thread(file.flush)
        inspected = await _inspect(file, "image")
    media_type = inspected.facts.media_type
    return await store(
        account_id=account_id, data=data, media_type=media_type, keep_seconds=keep_seconds
    )


async def _receive(pieces: AsyncIterable[bytes], file: IO[bytes], limit: int) -> int:
    """Write the pieces into the file. Returns the number of bytes. Raises UnusableMedia for none of
    them, and for more than `limit`."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > limit:
            raise UnusableMedia(f"It has more than {limit:,} bytes.")
        with _on_disk():
            await asyncio.to_thread(file.write, piece)
    if not size:
        raise UnusableMedia("It is empty.")
    # The inspector reads past our buffer.
    with _on_disk():
        await asyncio.to_thread(file.flush)
    return size


@contextmanager
def _on_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.exception("media.not_received")
        raise StorageUnavailable from error


async def _inspect(file: IO[bytes], kind: MediaKind) -> Inspected:
    try:
        return await inspecting.inspect(file, kind)
    except ServiceUnavailable as error:
        raise StorageUnavailable from error


async def _store(account_id: UUID, file: IO[bytes], size: int, inspected: Inspected) -> StoredMedia:
    facts = inspected.facts
    file_id = await store_file(
        account_id=account_id,
        content=File(file),
        media_type=facts.media_type,
        keep_seconds=UNKEPT_SECONDS,
    )
    thumbnail_id = None
    if inspected.thumbnail is not None:
        thumbnail_id = await store_file(
            account_id=account_id,
            content=ContentFile(inspected.thumbnail),
            media_type="image/webp",
            keep_seconds=UNKEPT_SECONDS,
            thumbnail_of=file_id,
        )
    return StoredMedia(
        file_id=file_id,
        thumbnail_id=thumbnail_id,
        media_type=facts.media_type,
        size=size,
        width=facts.width,
        height=facts.height,
        seconds=facts.seconds,
    )


def keep(
    *,
    file_ids: Collection[UUID],
    retention: timedelta | None,
    thumbnails: Mapping[UUID, UUID] = MappingProxyType({}),
) -> None:
    """Keep files for ever, or as long as `retention` says, within the caller's transaction.
    `thumbnails` are those of the files that are thumbnails, each with the file that it is shown
    for, whatever picture it was made of: the two are taken down together.

    Raises FileGone where one has expired or was deleted.
    """
    rows = StoredFile.objects.filter(pk__in=file_ids)
    live = rows.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))
    held = live.order_by("pk").select_for_update(no_key=True)
    if len(held) < len(set(file_ids)):
        raise FileGone
    expires_at = None if retention is None else timezone.now() + retention
    rows.update(is_kept=True, expires_at=expires_at, thumbnail_of=_shown_for(thumbnails))


def _shown_for(thumbnails: Mapping[UUID, UUID]) -> Combinable:
    """What `thumbnail_of` becomes; that of other files stays."""
    if not thumbnails:
        return F("thumbnail_of")
    cases = (When(pk=each, then=Value(file_id)) for each, file_id in thumbnails.items())
    return Case(*cases, default=F("thumbnail_of"), output_field=UUIDField())


def let_expire(*, file_ids: Collection[UUID]) -> None:
    """Let the next sweep purge files, within the caller's transaction. Links to them answer that
    they are gone."""
    rows = StoredFile.objects.filter(pk__in=file_ids)
    list(rows.order_by("pk").select_for_update(no_key=True))
    rows.update(is_kept=False, expires_at=Now())
