"""`manage.py check_files`: what is said of rows without files, and of files without rows."""

from collections.abc import Iterator
from io import StringIO
from typing import cast

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.utils import timezone
from pytest_django import Settings

from common.ids import uuid7
from media.files.models import StoredFile, Upload
from media.files.services import uploads
from media.files.tests.conftest import Keep
from media.files.types import storage_path
from tests.personas import new_user


@pytest.fixture(autouse=True)
def alone(committed: None) -> Iterator[None]:
    """No files of other tests, whose bytes may be gone."""
    delete_files()
    yield
    delete_files()


def delete_files() -> None:
    """All files, and what protects them."""
    for relation in Upload._meta.related_objects:
        cast(type[Model], relation.related_model)._base_manager.all().delete()
    Upload.objects.all().delete()
    StoredFile.objects.all().delete()


@pytest.fixture
def empty(settings: Settings, tmp_path: object, place: str) -> str:
    """Storages without other tests' files: folders of this test, or the bucket."""
    folders = {
        name: {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": f"{tmp_path}/{name}"},
        }
        for name in ("outputs", "uploads")
    }
    if place == "bucket":
        storage = storages["outputs"]
        for stored in storage.bucket.objects.all():  # type: ignore[attr-defined]
            stored.delete()
        folders["outputs"] = settings.STORAGES["outputs"]
    settings.STORAGES = {**settings.STORAGES, **folders}
    return place


def checked(*options: str) -> tuple[list[str], str]:
    """What the command prints, and with which words it fails."""
    said = StringIO()
    try:
        call_command("check_files", *options, stdout=said)
    except CommandError as error:
        return said.getvalue().splitlines(), str(error)
    return said.getvalue().splitlines(), ""


def lose(name: str) -> None:
    storages["outputs"].delete(storage_path(name))


def find(name: str, data: bytes = b"found") -> None:
    storages["outputs"].save(storage_path(name), ContentFile(data))


def test_rows_and_files_that_belong_together_are_counted(empty: str, keep: Keep) -> None:
    keep()
    uploads.store(user=new_user("alice"), name="a.txt", file=ContentFile(b"text"))
    assert checked() == (
        ["2 files with rows, 0 of them missing or incomplete; 0 files without rows."],
        "",
    )


def test_what_is_missing_or_incomplete_is_named_and_fails(empty: str, keep: Keep) -> None:
    gone, cut, _ = keep(), keep(), keep()
    lose(gone)
    lose(cut)
    find(cut, b"half")
    lines, error = checked()
    assert sorted(lines[:-1]) == sorted(
        [f"missing: outputs {storage_path(gone)}", f"incomplete: outputs {storage_path(cut)}"]
    )
    assert lines[-1].startswith("3 files with rows, 2 of them missing or incomplete;")
    assert error == "2 files are missing or incomplete."


def test_files_without_rows_are_named_and_deleted_on_request_alone(empty: str, keep: Keep) -> None:
    kept, stray = keep(), f"{uuid7()}.png"
    find(stray)
    line = f"unknown: outputs {storage_path(stray)}"
    assert checked()[0][0] == line
    lines, error = checked("--delete-unknown")
    assert (lines[0], lines[-1], error) == (line, "Deleted: 1.", "")
    assert not storages["outputs"].exists(storage_path(stray))
    assert storages["outputs"].exists(storage_path(kept))


def test_nothing_is_deleted_with_a_database_that_does_not_know_the_files(empty: str) -> None:
    name = f"{uuid7()}.png"
    find(name)
    assert checked("--delete-unknown")[1] == "More files would be deleted than stay: none was."
    assert storages["outputs"].exists(storage_path(name))


def test_what_is_expired_or_taken_down_is_no_finding(empty: str, keep: Keep) -> None:
    keep(keep_seconds=-1)  # its bytes wait for the purge
    down = keep()
    lose(down)
    StoredFile.objects.filter(pk=down.partition(".")[0]).update(taken_down_at=timezone.now())
    lines, error = checked()
    assert (len(lines), error) == (1, "")


def test_a_storage_that_is_away_is_no_missing_file(unreachable: None, keep: Keep) -> None:
    assert checked()[1].startswith("The files cannot be read: ")
