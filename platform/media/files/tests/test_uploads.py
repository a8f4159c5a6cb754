"""GET and DELETE /api/uploads: one's own files, and nobody else's."""

from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.utils import timezone

from common.ids import uuid7
from conftest import Persona
from media.files.errors import FileGone, UploadNotFound
from media.files.models import Upload
from media.files.selectors.uploads import get_uploads, read_text
from media.files.services.uploads import attach, take_down
from media.files.tests.forms import PNG, URL, File, has_bytes, uploaded
from media.files.types import storage_path


def expire(upload: Upload) -> None:
    over = timezone.now() - timedelta(seconds=1)
    Upload.objects.filter(pk=upload.pk).update(expires_at=over)


def test_uploads_are_listed_newest_first(alice: Persona, bob: Persona) -> None:
    uploads = [uploaded(alice, File(name=f"{number}.txt")) for number in range(3)]
    uploaded(bob)
    first = alice.client.get(URL, {"limit": 2})
    assert [row["name"] for row in first.json()] == ["2.txt", "1.txt"]
    before = uploads[1].pk
    assert f"before={before}" in first["Link"]
    rest = alice.client.get(URL, {"limit": "2", "before": str(before)})
    assert [row["name"] for row in rest.json()] == ["0.txt"]
    assert "Link" not in rest


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "before=x"])
def test_a_page_that_is_none_is_refused(alice: Persona, query: str) -> None:
    assert alice.client.get(f"{URL}?{query}").status_code == 422


def test_an_upload_is_shown(alice: Persona) -> None:
    upload = uploaded(alice, File(PNG, "a.png"))
    answer = alice.client.get(f"{URL}/{upload.pk}").json()
    assert answer.keys() == {"id", "name", "mime", "size", "readable", "created_at"}
    assert (answer["name"], answer["mime"], answer["size"]) == ("a.png", "image/png", len(PNG))


def test_an_upload_is_deleted_with_its_bytes(alice: Persona) -> None:
    upload, other = uploaded(alice), uploaded(alice)
    assert alice.client.delete(f"{URL}/{upload.pk}").status_code == 204
    assert not has_bytes(upload)
    assert list(Upload.objects.all()) == [other]
    assert has_bytes(other)
    assert alice.client.delete(f"{URL}/{upload.pk}").status_code == 404


def test_an_upload_whose_bytes_are_gone_can_be_deleted(alice: Persona) -> None:
    upload = uploaded(alice)
    storages["uploads"].delete(storage_path(str(upload.pk)))
    assert alice.client.delete(f"{URL}/{upload.pk}").status_code == 204


def test_an_upload_of_a_message_is_not_deleted(alice: Persona) -> None:
    upload = uploaded(alice)
    attach(uploads=[upload])
    response = alice.client.delete(f"{URL}/{upload.pk}")
    assert (response.status_code, response.json()["code"]) == (409, "upload_in_use")
    assert has_bytes(upload)


@pytest.mark.parametrize("method", ["get", "delete"])
def test_what_is_not_ones_own_is_not_there(alice: Persona, bob: Persona, method: str) -> None:
    upload, over = uploaded(alice), uploaded(bob)
    expire(over)
    ask = getattr(bob.client, method)
    for upload_id in (upload.pk, over.pk, uuid7()):
        assert ask(f"{URL}/{upload_id}").status_code == 404
    assert ask(f"{URL}/x").status_code == 404
    assert has_bytes(upload)


@pytest.mark.parametrize("method", ["put", "patch"])
def test_an_upload_never_changes(alice: Persona, method: str) -> None:
    upload = uploaded(alice)
    assert getattr(alice.client, method)(f"{URL}/{upload.pk}").status_code == 405


def test_uploads_come_in_the_order_in_which_they_are_named(alice: Persona) -> None:
    first, second = uploaded(alice), uploaded(alice)
    assert get_uploads(alice.user, [second.pk, first.pk]) == [second, first]
    assert get_uploads(alice.user, []) == []


def test_an_upload_that_is_missing_is_named(alice: Persona, bob: Persona) -> None:
    mine, foreign, over = uploaded(alice), uploaded(bob), uploaded(alice)
    expire(over)
    for missing in (foreign.pk, over.pk, uuid7()):
        with pytest.raises(UploadNotFound) as refusal:
            get_uploads(alice.user, [mine.pk, missing])
        assert refusal.value.extra["errors"][0]["loc"] == ["upload_ids", 1]
        assert refusal.value.status == 422


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Grüße, 世界".encode(), "Grüße, 世界"),
        (b"\xef\xbb\xbfmarked", "marked"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        ("🌊".encode() * 100, "🌊" * 20),
        (b"x" * 100_000, "x" * 20),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_the_text_of_an_upload_is_read_to_a_limit(
    alice: Persona, content: bytes, text: str
) -> None:
    upload = uploaded(alice, File(content))
    assert read_text(upload, limit_characters=20) == text


def test_text_that_is_gone_is_said_to_be(alice: Persona) -> None:
    lost, down = uploaded(alice), uploaded(alice)
    storages["uploads"].delete(storage_path(str(lost.pk)))
    take_down(upload=down)
    for upload in (lost, down):
        with pytest.raises(FileGone):
            read_text(upload, limit_characters=20)
