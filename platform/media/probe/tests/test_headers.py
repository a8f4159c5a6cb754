"""The size of a picture by its header alone, whatever comes after it."""

import io
import struct

import pytest
from PIL import Image

from media.probe.headers import Header, read_header
from media.probe.tests.samples import picture

JPEG = picture("JPEG", (300, 200))


def header(data: bytes) -> Header | None:
    return read_header(io.BytesIO(data))


def segment(marker: int, data: bytes = b"") -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_each_format_has_its_size_in_its_header(form: str) -> None:
    assert header(picture(form, (300, 200))) == (f"image/{form.lower()}", 300, 200)


@pytest.mark.parametrize(
    "options", [{"lossless": True}, {"exif": b"Exif\0\0"}, {"quality": 10}], ids=str
)
def test_a_webp_has_it_in_each_of_its_forms(options: dict[str, object]) -> None:
    file = io.BytesIO()
    Image.new("RGB", (301, 203)).save(file, "WEBP", **options)
    assert header(file.getvalue()) == ("image/webp", 301, 203)


def test_a_progressive_jpeg_has_it_too() -> None:
    file = io.BytesIO()
    Image.new("RGB", (301, 203)).save(file, "JPEG", progressive=True)
    assert header(file.getvalue()) == ("image/jpeg", 301, 203)


def test_it_may_stand_behind_profiles_and_fill_bytes() -> None:
    profiles = segment(0xE2, bytes(60_000)) * 100 + b"\xff\xff\xff" + segment(0xFE, b"x")[1:]
    assert header(JPEG[:2] + profiles + JPEG[2:]) == ("image/jpeg", 300, 200)


def test_it_is_not_looked_for_without_end() -> None:
    assert header(JPEG[:2] + segment(0xFE) * 2_000 + JPEG[2:]) is None


def test_a_jpeg_whose_scan_comes_first_has_none() -> None:
    assert header(JPEG[:2] + segment(0xDA) + JPEG[2:]) is None


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_file_that_ends_within_its_header_has_none(form: str) -> None:
    data = picture(form, (300, 200))
    found = [header(data[:length]) for length in range(len(data))]
    first = next(number for number, each in enumerate(found) if each is not None)
    assert set(found[first:]) == {(f"image/{form.lower()}", 300, 200)}


@pytest.mark.parametrize("place", [16, 20])
def test_a_picture_without_pixels_has_none(place: int) -> None:
    data = bytearray(picture("PNG"))
    data[place : place + 4] = bytes(4)
    assert header(bytes(data)) is None


@pytest.mark.parametrize("data", [b"", b"GIF89a" + bytes(50), b"RIFF" + bytes(50), bytes(50)])
def test_other_files_have_none(data: bytes) -> None:
    assert header(data) is None
