"""Films are MP4 files whose boxes fit, with a length and a frame that can be decoded."""

import struct

import pytest

from media.probe.tests.samples import (
    box,
    film,
    film_with,
    inspected,
    model,
    picture,
    reason,
    size_of,
)
from media.probe.types import Facts
from tests.audio import tone

FILM = film(seconds=2, audio=True)
WRONG_LENGTHS = "It is truncated, or its boxes have wrong lengths."


async def test_a_film_is_measured_and_gets_a_poster() -> None:
    found = await inspected(FILM, "video")
    assert found.facts.seconds is not None
    assert 2 <= found.facts.seconds < 2.1
    assert found.facts == Facts(
        media_type="video/mp4", width=320, height=180, seconds=found.facts.seconds
    )
    assert size_of(found.thumbnail) == (320, 180)


async def test_the_poster_of_a_large_film_is_small() -> None:
    found = await inspected(film_with(size=(1920, 1080)), "video")
    assert (found.facts.width, found.facts.height) == (1920, 1080)
    assert size_of(found.thumbnail) == (512, 288)


@pytest.mark.parametrize("codec", ["libx265", "libsvtav1"])
async def test_newer_codecs_are_decoded_too(codec: str) -> None:
    found = await inspected(film_with(codec, (128, 128)), "video")
    assert size_of(found.thumbnail) == (128, 128)


async def test_free_space_behind_a_film_belongs_to_it() -> None:
    data = FILM + box(b"free", bytes(1_000_000))
    assert (await inspected(data, "video")).facts.width == 320


async def test_a_size_may_have_64_bits_or_be_the_rest_of_the_file() -> None:
    long = struct.pack(">I4sQ", 1, b"free", 116) + bytes(100)
    rest = struct.pack(">I4s", 0, b"free") + bytes(100)
    assert (await inspected(FILM + long + rest, "video")).facts.width == 320


NO_FILMS = {
    "nothing": b"",
    "a page": b"<!doctype html><title>Sorry</title>",
    "a picture": picture("PNG"),
    "a model": model(),
    "a film in another container": film_with(form="matroska"),
    "a film of QuickTime": film_with(form="mov"),
    "boxes without a type of file": box(b"moov") + box(b"mdat"),
    "a type of file that is cut off": box(b"ftyp"),
}


@pytest.mark.parametrize("name", NO_FILMS)
async def test_what_is_no_film_is_refused(name: str) -> None:
    assert await reason(NO_FILMS[name], "video") in (
        "It is no MP4 file.",
        "It ends in the middle of a box.",
        WRONG_LENGTHS,
    )


@pytest.mark.parametrize("length", [len(FILM) // 2, len(FILM) - 1, len(FILM) - 1_000])
async def test_a_truncated_film_is_refused(length: int) -> None:
    assert await reason(FILM[:length], "video") == WRONG_LENGTHS


async def test_what_follows_a_film_has_to_be_a_box() -> None:
    assert await reason(FILM + b"\0\0\0", "video") == "It ends in the middle of a box."
    assert await reason(FILM + struct.pack(">I4s", 4, b"free"), "video") == WRONG_LENGTHS
    assert await reason(FILM + struct.pack(">I4sQ", 1, b"free", 8), "video") == WRONG_LENGTHS
    assert await reason(FILM + struct.pack(">I4sQ", 1, b"free", 2**63), "video") == WRONG_LENGTHS
    assert await reason(FILM + box(b"free") * 20_000, "video") == "It has too many boxes."


TYPE = box(b"ftyp", b"isom\0\0\0\0isom")


async def test_a_film_needs_an_index_and_content() -> None:
    assert await reason(TYPE + box(b"mdat", bytes(100)), "video") == (
        "It has no index of its content."
    )
    assert await reason(TYPE + box(b"moov", bytes(100)), "video") == "It has no content."
    assert await reason(TYPE + box(b"moov") + box(b"mdat"), "video") == (
        "It must have one video track."
    )


async def test_sound_alone_is_no_film() -> None:
    assert await reason(tone(1, "mp4"), "video") == "It must have one video track."


async def test_a_film_with_two_pictures_at_once_is_refused() -> None:
    assert await reason(film_with(tracks=2), "video") == "It must have one video track."


async def test_a_codec_that_browsers_do_not_play_is_refused() -> None:
    assert await reason(film_with("mpeg4"), "video") == "Its codec is not supported."


def without_length(data: bytes) -> bytes:
    """The film with a length of zero in each place that says one."""
    found = bytearray(data)
    for kind, place in ((b"mvhd", 20), (b"tkhd", 24), (b"mdhd", 20)):
        at = -1
        while (at := data.find(kind, at + 1)) >= 0:
            found[at + place : at + place + 4] = bytes(4)
    at = data.index(b"stts") + 8
    [entries] = struct.unpack_from(">I", data, at)
    for entry in range(entries):
        found[at + 8 + 8 * entry : at + 12 + 8 * entry] = bytes(4)
    return bytes(found)


async def test_a_film_of_no_length_is_refused() -> None:
    assert await reason(without_length(film()), "video") == "It is 0.0 seconds long."


async def test_a_film_whose_frames_are_zeros_is_refused() -> None:
    at = FILM.index(b"mdat") + 4
    [length] = struct.unpack_from(">I", FILM, at - 8)
    data = FILM[:at] + bytes(length - 8) + FILM[at + length - 8 :]
    assert await reason(data, "video") in (
        "It cannot be decoded.",
        "It has no frame that can be decoded.",
    )


async def test_a_film_of_too_many_pixels_is_refused() -> None:
    # x264 makes none of this width.
    assert await reason(film_with("libvpx-vp9", size=(16_386, 16)), "video") == (
        "It is too large: 16,386 x 16 pixels."
    )


async def test_broken_films_are_refused_or_measured_and_break_nothing() -> None:
    for step in (97, 499, 1_999):
        data = bytearray(FILM)
        for place in range(200, len(data), step):
            data[place] ^= 0x5A
        try:
            assert (await inspected(bytes(data), "video")).facts.media_type == "video/mp4"
        except Exception as error:
            assert type(error).__name__ == "UnusableMedia"  # noqa: PT017
