"""Uploads that models can be given as pictures: looked at by their headers, never decoded."""

import struct
from uuid import UUID

import pytest
from django.core.files.storage import storages

from common.errors import ValidationFailed
from common.ids import uuid7
from conftest import Persona
from media.files.errors import UploadNotFound
from media.files.models import Upload
from media.files.selectors.references import Reference, find_reference, read_reference
from media.files.services.uploads import take_down
from media.files.tests.forms import File, uploaded
from media.files.types import MAX_PICTURE_BYTES, storage_path
from media.probe.tests.samples import picture


def png_of(width: int, height: int) -> bytes:
    """The header of a PNG, and nothing that could be decoded."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + header + bytes(100)


def refused(persona: Persona, upload_id: UUID) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        find_reference(persona.user.pk, upload_id, loc=("references", 1))
    [problem] = refusal.value.extra["errors"]
    assert problem["loc"] == ["references", 1]
    return str(problem["msg"])


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_of_one_s_own_is_given(alice: Persona, form: str) -> None:
    data = picture(form)
    upload = uploaded(alice, File(data, "holiday.txt", "text/plain"))
    reference = find_reference(alice.user.pk, upload.pk)
    assert reference == Reference(upload, f"image/{form.lower()}")
    assert read_reference(reference) == data


def test_nothing_is_decoded(alice: Persona) -> None:
    data = png_of(5_000, 4_000)
    reference = find_reference(alice.user.pk, uploaded(alice, File(data)).pk)
    assert read_reference(reference) == data


@pytest.mark.parametrize(
    "size", [(30_000, 100), (8_193, 1), (1, 8_193), (5_000, 4_001), (2**31, 1)]
)
def test_a_picture_that_is_too_large_is_refused(alice: Persona, size: tuple[int, int]) -> None:
    upload = uploaded(alice, File(png_of(*size)))
    width, height = size
    assert refused(alice, upload.pk) == (
        f"It has {width:,} x {height:,} pixels. A reference has at most 8,192 pixels a side, and "
        "20 million in all."
    )


def test_a_picture_of_too_many_bytes_is_refused(alice: Persona) -> None:
    png = png_of(1_000, 1_000)
    largest = uploaded(alice, File(png.ljust(MAX_PICTURE_BYTES, b"\0")))
    larger = uploaded(alice, File(png.ljust(MAX_PICTURE_BYTES + 1, b"\0")))
    assert find_reference(alice.user.pk, largest.pk).file == largest
    assert refused(alice, larger.pk) == "A reference has at most 10 MB."


@pytest.mark.parametrize("size", [(8_192, 2_441), (1, 8_192)])
def test_the_largest_pictures_are_given(alice: Persona, size: tuple[int, int]) -> None:
    upload = uploaded(alice, File(png_of(*size)))
    assert find_reference(alice.user.pk, upload.pk).media_type == "image/png"


@pytest.mark.parametrize(
    "content",
    [b"some words", b"\x89PNG\r\n\x1a\n", b"GIF89a" + bytes(50), b"%PDF-1.7\n", png_of(0, 5)],
    ids=len,
)
def test_what_is_no_picture_is_refused(alice: Persona, content: bytes) -> None:
    upload = uploaded(alice, File(content, "a.png", "image/png"))
    assert refused(alice, upload.pk) == "This is no PNG, JPEG or WebP picture."


def test_somebody_else_s_upload_is_not_there(alice: Persona, bob: Persona) -> None:
    upload = uploaded(alice, File(picture("PNG")))
    for upload_id in (upload.pk, uuid7()):
        with pytest.raises(UploadNotFound):
            find_reference(bob.user.pk, upload_id)
        assert "no such upload" in refused(bob, upload_id)


def test_what_is_gone_is_not_there(alice: Persona) -> None:
    down, over, lost = (uploaded(alice, File(picture("PNG"))) for _ in range(3))
    take_down(upload=down)
    Upload.objects.filter(pk=over.pk).update(expires_at="2020-01-01T00:00:00Z")
    found = find_reference(alice.user.pk, lost.pk)
    storages["uploads"].delete(storage_path(str(lost.pk)))
    with pytest.raises(UploadNotFound):
        read_reference(found)
    for upload in (down, over, lost):
        with pytest.raises(UploadNotFound):
            find_reference(alice.user.pk, upload.pk)
