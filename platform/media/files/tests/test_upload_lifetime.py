"""Uploads last as long as what they are attached to, or a day; nothing else is ever deleted."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.utils import timezone

from common.database import connection_parameters
from media.files import tasks
from media.files.errors import StorageUnavailable, UploadNotFound, UploadQuotaExceeded
from media.files.models import Upload
from media.files.services import uploads
from media.files.services.uploads import attach, purge_expired, release, store, take_down
from media.files.tests.forms import has_bytes
from media.files.types import storage_path
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url


@pytest.fixture
def user(committed: None) -> AbstractBaseUser:
    return new_user("alice")


def kept(user: AbstractBaseUser, content: bytes = b"some words") -> Upload:
    return store(user=user, name="a.txt", file=ContentFile(content))


@transaction.atomic
def attached(upload: Upload) -> Upload:
    attach(uploads=[upload])
    return upload


@transaction.atomic
def release_upload(upload: Upload) -> None:
    release(upload_ids=[upload.pk])


class Large(ContentFile[bytes]):
    """One that is put in place as a whole, after `meanwhile`: from `path`."""

    def __init__(self, path: Path, meanwhile: Callable[[Upload], object]) -> None:
        super().__init__(b"some words")
        self._path = path
        self._meanwhile = meanwhile

    def temporary_file_path(self) -> str:
        self._meanwhile(Upload.objects.latest("pk"))
        return str(self._path)


class Broken(ContentFile[bytes]):
    """The user's first, which breaks off when some of it is written, after `meanwhile`."""

    def __init__(self, user: AbstractBaseUser, meanwhile: Callable[[Upload], object]) -> None:
        super().__init__(b"some words")
        self._user = user
        self._meanwhile = meanwhile

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield from super().chunks(chunk_size)
        # Its kind is looked for before there is a row.
        if upload := Upload.objects.filter(account_id=self._user.pk).first():
            self._meanwhile(upload)
            raise OSError


def is_kept(upload: Upload) -> bool:
    """Is it there? Its row and its bytes agree."""
    row = Upload.objects.filter(pk=upload.pk).exists()
    assert has_bytes(upload) == row
    return row


def expire(upload: Upload, seconds: int = 1) -> None:
    over = timezone.now() - timedelta(seconds=seconds)
    Upload.objects.filter(pk=upload.pk).update(expires_at=over)


def test_what_is_attached_to_nothing_goes_in_time(user: AbstractBaseUser) -> None:
    over, waiting, used = kept(user), kept(user), attached(kept(user))
    expire(over)
    tasks.purge_expired()
    assert [is_kept(each) for each in (over, waiting, used)] == [False, True, True]


def test_what_is_released_goes_at_once(user: AbstractBaseUser) -> None:
    released, other = attached(kept(user)), attached(kept(user))
    release_upload(released)
    tasks.purge_expired()
    assert [is_kept(each) for each in (released, other)] == [False, True]


def test_what_has_gone_meanwhile_is_not_attached(user: AbstractBaseUser) -> None:
    upload, other = kept(user), kept(user)
    uploads.delete(user=user, upload_id=upload.pk)
    with pytest.raises(UploadNotFound), transaction.atomic():
        attach(uploads=[other, upload])
    other.refresh_from_db()
    assert other.expires_at is not None


def test_what_is_over_is_not_attached_although_it_is_there_still(user: AbstractBaseUser) -> None:
    upload = kept(user)
    expire(upload)
    with pytest.raises(UploadNotFound):
        attached(upload)


def test_what_is_being_attached_is_not_purged(user: AbstractBaseUser) -> None:
    """Its time was not over when it was looked at, and is when the purge comes."""
    upload = kept(user)
    expire(upload)
    with psycopg.connect(**connection_parameters()) as other, other.transaction():
        other.execute("UPDATE files_upload SET expires_at = NULL WHERE id = %s", (upload.pk,))
        purge_expired()
        assert is_kept(upload)
    purge_expired()
    assert is_kept(upload)


def test_a_purge_takes_a_bounded_number_the_oldest_first(user: AbstractBaseUser) -> None:
    tasks.purge_expired()
    young, old = kept(user), kept(user)
    expire(young, 1)
    expire(old, 60)
    assert purge_expired(limit=1) == 1
    assert (is_kept(old), is_kept(young)) == (False, True)
    assert purge_expired(limit=1) == 1
    assert not is_kept(young)


@pytest.fixture
def stuck(user: AbstractBaseUser) -> Iterator[Upload]:
    """One whose bytes cannot be deleted."""
    upload = kept(user)
    path = Path(settings.UPLOADS_DIR, storage_path(str(upload.pk)))
    path.unlink()
    path.mkdir()  # which `unlink` refuses
    (path / "something").touch()
    yield upload
    (path / "something").unlink()
    path.rmdir()
    upload.delete()


def test_an_upload_that_cannot_be_deleted_keeps_nobody_waiting(
    user: AbstractBaseUser, stuck: Upload
) -> None:
    free = kept(user)
    # The oldest of all, whatever other tests have left.
    expire(stuck, 1_000_001)
    expire(free, 1_000_000)
    purge_expired(limit=1)
    purge_expired(limit=1)
    assert not is_kept(free)
    assert is_kept(stuck)
    with pytest.raises(StorageUnavailable):
        uploads.delete(user=user, upload_id=stuck.pk)
    assert is_kept(stuck)


def test_what_a_broken_write_left_is_not_listed_and_goes(user: AbstractBaseUser) -> None:
    """A write fails where its folder is in the way."""
    folder = Path(settings.UPLOADS_DIR)
    kept(user)
    moved = folder.rename(folder.with_suffix(".away"))
    folder.touch()  # no folder: nothing can be written below it
    try:
        with pytest.raises(StorageUnavailable):
            kept(user)
    finally:
        folder.unlink()
        moved.rename(folder)
    left = Upload.objects.filter(account_id=user.pk).latest("pk")
    with pytest.raises(UploadNotFound):
        attached(left)
    tasks.purge_expired()
    assert not Upload.objects.filter(pk=left.pk).exists()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """What has come of a large file."""
    path = tmp_path / "large"
    path.write_bytes(b"some words")
    return path


def test_what_is_deleted_while_it_is_written_leaves_no_bytes(
    user: AbstractBaseUser, written: Path
) -> None:
    def delete(upload: Upload) -> None:
        uploads.delete(user=user, upload_id=upload.pk)

    upload = store(user=user, name="a.txt", file=Large(written, delete))
    assert not is_kept(upload)


def test_what_is_taken_down_while_it_is_written_leaves_none_either(
    user: AbstractBaseUser, written: Path
) -> None:
    upload = store(user=user, name="a.txt", file=Large(written, lambda it: take_down(upload=it)))
    assert not has_bytes(upload)
    upload.refresh_from_db()
    assert upload.taken_down_at is not None


def test_who_has_it_written_waits_for_who_deletes_it(user: AbstractBaseUser, written: Path) -> None:
    """The one has found no bytes, and has not come to its end, when the other is done."""
    with psycopg.connect(database_url()) as other, ThreadPoolExecutor() as threads:

        def begin_to_delete(upload: Upload) -> None:
            other.execute("DELETE FROM files_upload WHERE id = %s", (upload.pk,))

        def send() -> Upload:
            try:
                return store(user=user, name="a.txt", file=Large(written, begin_to_delete))
            finally:
                connection.close()

        sending = threads.submit(send)
        wait_until_blocked(other)
        other.commit()
        assert not is_kept(sending.result())


def test_what_is_deleted_before_its_write_breaks_leaves_no_bytes(user: AbstractBaseUser) -> None:
    deleted: list[Upload] = []

    def delete(upload: Upload) -> None:
        uploads.delete(user=user, upload_id=upload.pk)
        deleted.append(upload)
        # Where the next of its words would have gone.
        Path(settings.UPLOADS_DIR, storage_path(str(upload.pk))).write_bytes(b"more words")

    with pytest.raises(StorageUnavailable):
        store(user=user, name="a.txt", file=Broken(user, delete))
    assert not is_kept(deleted[0])


def test_what_was_attached_before_its_write_broke_stays(
    user: AbstractBaseUser, tmp_path: Path
) -> None:
    with pytest.raises(StorageUnavailable):
        store(user=user, name="a.txt", file=Large(tmp_path / "missing", attached))
    assert Upload.objects.get(account_id=user.pk).expires_at is None


def test_what_has_been_purged_is_not_taken_down(user: AbstractBaseUser) -> None:
    """It was there when the operator looked."""
    upload = kept(user)
    expire(upload)
    purge_expired()
    assert not take_down(upload=upload)


def test_uploads_at_once_do_not_pass_the_quota(user: AbstractBaseUser, settings: Any) -> None:
    settings.UPLOAD_QUOTA_MB = 1
    content = bytes(300_000)

    def send(_: int) -> bool:
        try:
            kept(user, content)
        except UploadQuotaExceeded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(send, range(8)))
    assert sum(outcomes) == 3


def test_who_waits_for_the_quota_sees_what_came_before(
    user: AbstractBaseUser, settings: Any
) -> None:
    settings.UPLOAD_QUOTA_MB = 1
    kept(user, bytes(600_000))

    def send() -> None:
        try:
            kept(user, bytes(600_000))
        finally:
            connection.close()

    with psycopg.connect(**connection_parameters()) as other, ThreadPoolExecutor() as threads:
        with other.transaction():
            lock = "SELECT pg_advisory_xact_lock(hashtext('files.uploads'), hashtext(%s))"
            other.execute(lock, (str(user.pk),))
            sending = threads.submit(send)
            wait_until_blocked(other)
        with pytest.raises(UploadQuotaExceeded):
            sending.result()
