"""Files go when their time is over, bytes and row; no other file does."""

from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import storages
from django.utils import timezone

from media.files import tasks
from media.files.errors import StorageUnavailable
from media.files.models import StoredFile
from media.files.services.outputs import purge_expired
from media.files.tests.conftest import Keep
from media.files.types import storage_path


def is_kept(name: str) -> bool:
    """Is the file there? Its row and its bytes agree."""
    row = StoredFile.objects.filter(pk=name.partition(".")[0]).exists()
    assert storages["outputs"].exists(storage_path(name)) == row
    return row


def test_only_what_has_expired_is_purged(keep: Keep) -> None:
    over, running = keep(keep_seconds=-1), keep(keep_seconds=60)
    tasks.purge_expired()
    assert (is_kept(over), is_kept(running)) == (False, True)


def test_a_purge_takes_a_bounded_number_the_oldest_first(keep: Keep) -> None:
    tasks.purge_expired()
    young, old = keep(keep_seconds=-1), keep(keep_seconds=-60)
    assert purge_expired(limit=1) == 1
    assert (is_kept(old), is_kept(young)) == (False, True)
    assert purge_expired(limit=1) == 1
    assert not is_kept(young)


def test_bytes_that_are_gone_already_do_not_matter(keep: Keep) -> None:
    name = keep(keep_seconds=-1)
    storages["outputs"].delete(storage_path(name))
    tasks.purge_expired()
    assert not is_kept(name)


def test_a_file_that_cannot_be_deleted_keeps_nobody_waiting(keep: Keep) -> None:
    tasks.purge_expired()
    stuck, free = keep(keep_seconds=-60), keep(keep_seconds=-1)
    path = Path(settings.OUTPUTS_DIR, storage_path(stuck))
    path.unlink()
    path.mkdir()  # which `unlink` refuses
    (path / "something").touch()
    purge_expired(limit=1)
    purge_expired(limit=1)
    assert is_kept(stuck)
    assert not is_kept(free)

    (path / "something").unlink()
    tasks.purge_expired()
    assert is_kept(stuck)  # for an hour
    StoredFile.objects.filter(pk=stuck.partition(".")[0]).update(expires_at=timezone.now())
    tasks.purge_expired()
    assert not is_kept(stuck)


def test_what_a_broken_write_left_is_purged_in_time(keep: Keep) -> None:
    """A write fails where its folder is in the way: the row is there, and expires."""
    outputs = Path(settings.OUTPUTS_DIR)
    before = set(StoredFile.objects.values_list("pk", flat=True))
    moved = outputs.rename(outputs.with_suffix(".away")) if outputs.exists() else None
    outputs.parent.mkdir(exist_ok=True)
    outputs.touch()  # no folder: nothing can be written below it
    try:
        with pytest.raises(StorageUnavailable):
            keep(keep_seconds=-1)
    finally:
        outputs.unlink()
        if moved:
            moved.rename(outputs)
    [left] = set(StoredFile.objects.values_list("pk", flat=True)) - before
    tasks.purge_expired()
    assert not StoredFile.objects.filter(pk=left).exists()


def test_a_kind_of_file_that_is_not_served_is_not_stored(keep: Keep) -> None:
    count = StoredFile.objects.count()
    with pytest.raises(KeyError):
        keep(media_type="image/svg+xml")
    assert StoredFile.objects.count() == count
