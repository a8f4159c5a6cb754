"""A bucket behaves like a folder, with its errors too."""

import io

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from common.ids import uuid7
from media.files import tasks
from media.files.errors import StorageUnavailable
from media.files.models import StoredFile
from media.files.services.outputs import purge_expired
from media.files.tests.conftest import Keep
from media.files.types import storage_path

CONTENT = bytes(range(256)) * 1_000
# More than the parts in which it is sent.
LONG = CONTENT * 80


@pytest.fixture
def storage(in_bucket: None) -> Storage:
    return storages["outputs"]


def saved(storage: Storage, content: bytes = CONTENT) -> str:
    name = storage_path(f"{uuid7()}.mp4")
    assert storage.save(name, ContentFile(content)) == name
    return name


def test_what_is_saved_is_read_again(storage: Storage) -> None:
    name = saved(storage)
    assert storage.exists(name)
    with storage.open(name) as file:
        assert file.read() == CONTENT


def test_a_long_file_is_sent_in_parts(storage: Storage) -> None:
    with storage.open(saved(storage, LONG)) as file:
        assert b"".join(iter(lambda: file.read(100_000), b"")) == LONG


def test_an_empty_file_is_one(storage: Storage) -> None:
    with storage.open(saved(storage, b"")) as file:
        assert file.read() == b""


def test_it_is_read_from_any_position(storage: Storage) -> None:
    with storage.open(saved(storage)) as file:
        assert (file.seek(1_000), file.read(3)) == (1_000, CONTENT[1_000:1_003])
        assert (file.seek(10, io.SEEK_CUR), file.read(3)) == (1_013, CONTENT[1_013:1_016])
        assert (file.seek(-3, io.SEEK_END), file.read(9)) == (len(CONTENT) - 3, CONTENT[-3:])
        assert file.read(9) == b""
        assert (file.seek(0), file.tell(), file.read(2)) == (0, 0, CONTENT[:2])
        file.seek(5 * len(CONTENT))
        assert file.read(9) == b""


def test_what_is_not_there_is_not_found(storage: Storage) -> None:
    assert not storage.exists("aa/missing.mp4")
    with pytest.raises(FileNotFoundError):
        storage.open("aa/missing.mp4")
    storage.delete("aa/missing.mp4")


def test_a_deleted_file_is_gone(storage: Storage) -> None:
    name = saved(storage)
    storage.delete(name)
    assert not storage.exists(name)


def test_expired_files_are_purged_from_it(in_bucket: None, keep: Keep) -> None:
    name = keep(keep_seconds=-1)
    assert storages["outputs"].exists(storage_path(name))
    tasks.purge_expired()
    assert not storages["outputs"].exists(storage_path(name))
    assert not StoredFile.objects.filter(pk=name.partition(".")[0]).exists()


def test_a_service_that_is_away_is_an_error_of_the_storage(unreachable: None) -> None:
    storage = storages["outputs"]
    for attempt in (
        lambda: storage.save("aa/a.mp4", ContentFile(CONTENT)),
        lambda: storage.open("aa/a.mp4"),
        lambda: storage.exists("aa/a.mp4"),
        lambda: storage.delete("aa/a.mp4"),
    ):
        with pytest.raises(OSError, match="Could not connect") as refusal:
            attempt()
        assert not isinstance(refusal.value, FileNotFoundError)


def test_nothing_is_stored_or_purged_while_it_is_away(unreachable: None, keep: Keep) -> None:
    before = set(StoredFile.objects.values_list("pk", flat=True))
    with pytest.raises(StorageUnavailable):
        keep(keep_seconds=-1)
    [left] = set(StoredFile.objects.values_list("pk", flat=True)) - before
    purge_expired()
    assert StoredFile.objects.filter(pk=left).exists()  # and is tried again in an hour
    StoredFile.objects.filter(pk=left).delete()
