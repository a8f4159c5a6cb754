"""The results of providers are stored if they are what they have to be, with a thumbnail."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.storage import storages
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from common.database import get_database
from common.ids import uuid7
from media.files import tasks
from media.files.errors import FileGone, StorageUnavailable
from media.files.models import StoredFile
from media.files.selectors.outputs import storage_used, studio_retention
from media.files.services.media import StoredMedia, keep, let_expire, store_result
from media.files.services.outputs import take_down
from media.files.types import storage_path
from media.probe.errors import UnusableMedia
from media.probe.tests.samples import film, model, picture, size_of
from media.probe.types import MediaKind
from tests.personas import new_user

T = TypeVar("T")
LIMIT = 10_000_000


@pytest.fixture
def alice(committed: None) -> AbstractBaseUser:
    return new_user("alice")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    async def closed() -> T:
        try:
            return await coroutine
        finally:
            await get_database().close()

    return asyncio.run(closed())


async def pieces_of(data: bytes, size: int = 10_000) -> AsyncIterator[bytes]:
    for place in range(0, len(data), size):
        yield data[place : place + size]


def stored(
    account: AbstractBaseUser, data: bytes, kind: MediaKind = "image", limit: int = LIMIT
) -> StoredMedia:
    return run(store_result(account_id=account.pk, pieces=pieces_of(data), kind=kind, limit=limit))


def row(file_id: UUID | None) -> StoredFile:
    assert file_id is not None
    return StoredFile.objects.get(pk=file_id)


def bytes_of(file: StoredFile) -> bytes:
    with storages["outputs"].open(storage_path(file.name)) as opened:
        return bytes(opened.read())


def ids_of(media: StoredMedia) -> list[UUID]:
    return [each for each in (media.file_id, media.thumbnail_id) if each is not None]


def keep_for(*media: StoredMedia, retention: timedelta | None = None) -> None:
    with transaction.atomic():
        keep(file_ids=[each for one in media for each in ids_of(one)], retention=retention)


def let_go(*media: StoredMedia) -> None:
    with transaction.atomic():
        let_expire(file_ids=[each for one in media for each in ids_of(one)])


# --- What is stored -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_stored_with_a_thumbnail(
    alice: AbstractBaseUser, form: str, place: str
) -> None:
    data = picture(form, (1024, 512))
    media = stored(alice, data)
    assert (media.media_type, media.size) == (f"image/{form.lower()}", len(data))
    assert (media.width, media.height, media.seconds) == (1024, 512, None)
    file, thumbnail = row(media.file_id), row(media.thumbnail_id)
    assert bytes_of(file) == data
    assert size_of(bytes_of(thumbnail)) == (512, 256)
    assert (file.account_id, file.media_type, file.size) == (
        alice.pk,
        media.media_type,
        media.size,
    )
    assert (thumbnail.account_id, thumbnail.media_type) == (alice.pk, "image/webp")
    assert (file.thumbnail_of_id, thumbnail.thumbnail_of_id) == (None, file.pk)


def test_a_film_is_stored_with_a_poster(alice: AbstractBaseUser, place: str) -> None:
    data = film(seconds=3)
    media = stored(alice, data, "video")
    assert (media.media_type, media.size) == ("video/mp4", len(data))
    assert (media.width, media.height) == (320, 180)
    assert media.seconds == pytest.approx(3, abs=0.1)
    assert row(media.file_id).name == f"{media.file_id}.mp4"
    assert bytes_of(row(media.file_id)) == data
    assert size_of(bytes_of(row(media.thumbnail_id))) == (320, 180)


def test_a_model_is_stored(alice: AbstractBaseUser, place: str) -> None:
    data = model()
    media = stored(alice, data, "model")
    assert media == StoredMedia(
        media.file_id, None, "model/gltf-binary", len(data), None, None, None
    )
    assert row(media.file_id).name == f"{media.file_id}.glb"
    assert bytes_of(row(media.file_id)) == data


def test_a_result_of_just_the_limit_is_stored(alice: AbstractBaseUser) -> None:
    data = picture("PNG")
    assert stored(alice, data, limit=len(data)).size == len(data)


# --- What is not ----------------------------------------------------------------------------------


@pytest.fixture
def nothing_is_stored(alice: AbstractBaseUser) -> Iterator[None]:
    yield
    assert not StoredFile.objects.filter(account_id=alice.pk).exists()


FILM = film()
UNUSABLE: dict[str, tuple[bytes, MediaKind]] = {
    "nothing": (b"", "video"),
    "a page": (b"<!doctype html><title>Maintenance</title>", "video"),
    "another kind": (picture("PNG"), "video"),
    "half a film": (FILM[: len(FILM) // 2], "video"),
    "half a model": (model()[:500], "model"),
    "half a picture": (picture("JPEG")[:1_000], "image"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_is_unusable_is_not_stored(
    alice: AbstractBaseUser, nothing_is_stored: None, name: str
) -> None:
    data, kind = UNUSABLE[name]
    with pytest.raises(UnusableMedia) as refusal:
        stored(alice, data, kind)
    assert refusal.value.reason.endswith(".")


def test_more_than_the_limit_is_not_read(alice: AbstractBaseUser, nothing_is_stored: None) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield bytes(1_000)

    with pytest.raises(UnusableMedia, match="more than 10,000 bytes"):
        run(store_result(account_id=alice.pk, pieces=endless(), kind="video", limit=10_000))
    assert taken == 11


class ConnectionLost(Exception):
    pass


def test_what_breaks_the_download_is_passed_on(
    alice: AbstractBaseUser, nothing_is_stored: None
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield FILM[:1_000]
        raise ConnectionLost

    with pytest.raises(ConnectionLost):
        run(store_result(account_id=alice.pk, pieces=broken(), kind="video", limit=LIMIT))


def test_a_storage_that_is_away_is_told_and_leaves_nothing_that_lasts(
    alice: AbstractBaseUser, unreachable: None
) -> None:
    with pytest.raises(StorageUnavailable):
        stored(alice, picture("PNG"))
    [left] = StoredFile.objects.filter(account_id=alice.pk)
    assert left.expires_at is not None


def test_a_disk_without_room_is_an_unavailable_storage(
    alice: AbstractBaseUser, nothing_is_stored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with pytest.raises(StorageUnavailable):
        stored(alice, picture("PNG"))


# --- How long it is kept --------------------------------------------------------------------------


def test_a_result_that_nobody_keeps_expires_in_a_day(alice: AbstractBaseUser) -> None:
    media = stored(alice, picture("PNG"))
    for file_id in ids_of(media):
        expires_at = row(file_id).expires_at
        assert expires_at is not None
        assert timedelta(hours=23) < expires_at - timezone.now() <= timedelta(hours=24)
        assert not row(file_id).is_kept


def test_what_is_kept_never_expires(alice: AbstractBaseUser) -> None:
    media = stored(alice, picture("PNG"))
    keep_for(media)
    tasks.purge_expired()
    assert [(row(each).expires_at, row(each).is_kept) for each in ids_of(media)] == [
        (None, True),
        (None, True),
    ]


def test_it_is_kept_as_long_as_the_operator_says(
    alice: AbstractBaseUser, settings: Settings
) -> None:
    assert studio_retention() is None
    settings.STUDIO_RETENTION_DAYS = 30
    media = stored(alice, model(), "model")
    keep_for(media, retention=studio_retention())
    expires_at = row(media.file_id).expires_at
    assert expires_at is not None
    assert timedelta(days=29.9) < expires_at - timezone.now() <= timedelta(days=30)


def test_what_is_let_go_is_purged_with_its_bytes(alice: AbstractBaseUser) -> None:
    media, other = stored(alice, picture("PNG")), stored(alice, picture("JPEG"))
    keep_for(media, other)
    names = [row(each).name for each in ids_of(media)]
    let_go(media)
    tasks.purge_expired()
    assert not StoredFile.objects.filter(pk__in=ids_of(media)).exists()
    assert not any(storages["outputs"].exists(storage_path(name)) for name in names)
    assert bytes_of(row(other.file_id)) == picture("JPEG")


def test_what_has_expired_cannot_be_kept(alice: AbstractBaseUser) -> None:
    media, other = stored(alice, picture("PNG")), stored(alice, picture("PNG"))
    let_go(media)
    with pytest.raises(FileGone):
        keep_for(media, other)
    with pytest.raises(FileGone), transaction.atomic():
        keep(file_ids=[uuid7()], retention=None)
    assert not row(other.file_id).is_kept


def test_nothing_is_kept_where_the_transaction_fails(alice: AbstractBaseUser) -> None:
    media = stored(alice, picture("PNG"))

    with transaction.atomic():
        keep(file_ids=ids_of(media), retention=None)
        transaction.set_rollback(True)

    assert not row(media.file_id).is_kept


def test_a_thumbnail_can_be_shown_for_another_file(alice: AbstractBaseUser) -> None:
    asset, preview = stored(alice, picture("PNG")), stored(alice, picture("PNG"))
    assert preview.thumbnail_id

    with transaction.atomic():
        keep(
            file_ids=[asset.file_id, preview.thumbnail_id],
            retention=None,
            thumbnails={preview.thumbnail_id: asset.file_id},
        )

    assert row(preview.thumbnail_id).thumbnail_of_id == asset.file_id
    assert row(asset.file_id).thumbnail_of_id is None


# --- How much room it takes -----------------------------------------------------------------------


def test_the_room_of_an_account_is_that_of_its_kept_files(alice: AbstractBaseUser) -> None:
    bob = new_user("bob")
    mine, unkept, gone, down, his = (
        stored(who, picture("PNG", (900, 900 + number)))
        for number, who in enumerate((alice, alice, alice, alice, bob))
    )
    assert storage_used(alice.pk) == 0
    keep_for(mine, gone, down, his)
    let_go(gone)
    take_down(file=row(down.file_id))
    expected = sum(row(each).size for each in ids_of(mine))
    assert storage_used(alice.pk) == expected > mine.size
    assert storage_used(bob.pk) == sum(row(each).size for each in ids_of(his))
    assert storage_used(uuid7()) == 0
    assert row(unkept.file_id).size > 0
