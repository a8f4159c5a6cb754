"""Pictures are what they are by decoding them, whatever anybody calls them."""

import io
import struct
import zlib
from hashlib import shake_256

import pytest
from PIL import Image

from media.probe.tests.samples import film, inspected, model, picture, reason, size_of
from media.probe.types import Facts


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
async def test_each_format_is_known_and_gets_a_thumbnail(form: str) -> None:
    found = await inspected(picture(form, (1200, 600)), "image")
    assert found.facts == Facts(media_type=f"image/{form.lower()}", width=1200, height=600)
    assert size_of(found.thumbnail) == (512, 256)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
async def test_all_kinds_of_pixels_get_a_thumbnail(mode: str) -> None:
    file = io.BytesIO()
    Image.new(mode, (700, 700)).save(file, "PNG")
    assert size_of((await inspected(file.getvalue(), "image")).thumbnail) == (512, 512)


async def test_the_four_colours_of_print_get_a_thumbnail() -> None:
    found = await inspected(picture("JPEG", (700, 700), "CMYK"), "image")
    assert size_of(found.thumbnail) == (512, 512)


async def test_what_is_transparent_stays_transparent() -> None:
    file = io.BytesIO()
    Image.new("RGBA", (900, 900), (0, 0, 0, 0)).save(file, "PNG")
    thumbnail = (await inspected(file.getvalue(), "image")).thumbnail
    assert thumbnail is not None
    with Image.open(io.BytesIO(thumbnail)) as image:
        assert image.convert("RGBA").getpixel((9, 9))[3] == 0  # type: ignore[index]


async def test_a_small_picture_is_not_made_larger() -> None:
    assert size_of((await inspected(picture("PNG", (20, 10)), "image")).thumbnail) == (20, 10)


async def test_a_picture_of_one_line_has_a_thumbnail_of_one() -> None:
    found = await inspected(picture("PNG", (16_384, 1)), "image")
    assert size_of(found.thumbnail) == (512, 1)


async def test_the_largest_picture_fits_into_the_memory() -> None:
    found = await inspected(picture("PNG", (10_000, 5_000), "P"), "image")
    assert size_of(found.thumbnail) == (512, 256)


NO_PICTURES = {
    "nothing": b"",
    "words": b"These are words.",
    "noise": shake_256(b"noise").digest(100_000),
    "a page": b"<!doctype html><title>Sorry</title>",
    "a drawing": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "the beginning of a PNG": picture("PNG")[:20],
    "the beginning of a JPEG": picture("JPEG")[:4],
    "the beginning of a WebP": picture("WEBP")[:20],
    "a GIF": picture("GIF"),
    "a TIFF": picture("TIFF"),
    "a film": film(),
    "a model": model(),
}


@pytest.mark.parametrize("name", NO_PICTURES)
async def test_what_is_no_picture_is_refused(name: str) -> None:
    assert await reason(NO_PICTURES[name], "image") == "It is no PNG, JPEG or WebP picture."


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
async def test_a_truncated_picture_is_refused(form: str) -> None:
    file = io.BytesIO()
    Image.effect_noise((300, 300), 90).convert("RGB").save(file, form)
    data = file.getvalue()
    assert await reason(data[: len(data) // 2], "image") == "It cannot be decoded."


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
async def test_a_header_alone_is_refused(form: str) -> None:
    assert await reason(picture(form)[:40], "image") == "It cannot be decoded."


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that has that many pixels."""
    lines = zlib.compress(bytes(10_000_000))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), chunk(b"IDAT", lines), chunk(b"IEND", b"")]
    )


@pytest.mark.parametrize("size", [(60_000, 60_000), (16_385, 1), (7_072, 7_072), (2**31, 2**31)])
async def test_too_many_pixels_are_refused_before_they_are_decoded(size: tuple[int, int]) -> None:
    width, height = size
    assert await reason(bomb(*size), "image") == (
        f"It is too large: {width:,} x {height:,} pixels."
    )


async def test_a_canvas_larger_than_its_picture_is_refused() -> None:
    """A decoder would reserve memory for the canvas."""
    data = bytearray(picture("WEBP", (64, 64), "RGBA"))
    if data[12:16] != b"VP8X":
        data[12:12] = b"VP8X" + struct.pack("<I", 10) + bytes(10)
        struct.pack_into("<I", data, 4, len(data) - 8)
    data[24:30] = (16_382).to_bytes(3, "little") * 2
    assert "too large" in await reason(bytes(data), "image")


async def test_a_text_that_unpacks_to_a_gigabyte_is_refused() -> None:
    data = picture("PNG")
    text = b"Comment\0\0" + zlib.compress(bytes(1_000_000_000), 1)
    assert await reason(data[:33] + chunk(b"zTXt", text) + data[33:], "image")
