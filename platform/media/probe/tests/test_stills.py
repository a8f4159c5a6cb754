"""Pictures that a model is shown are decoded to their end, all of a request in one process."""

import asyncio
import io
import struct
import zlib

import pytest
from PIL import Image

from common.errors import ServiceUnavailable
from media.probe.errors import UnusablePicture
from media.probe.headers import read_still_header
from media.probe.inspecting import inspect_stills
from media.probe.tests.samples import film, model, picture
from media.probe.tests.test_inspecting import inspectors

FORMS = ("PNG", "JPEG", "WEBP", "GIF")


def moving(form: str) -> bytes:
    """A red and a blue frame in one file."""
    first, second = (Image.new("RGB", (64, 48), colour) for colour in ("red", "blue"))
    file = io.BytesIO()
    first.save(file, form, save_all=True, append_images=[second])
    return file.getvalue()


def noise(form: str, **options: object) -> bytes:
    file = io.BytesIO()
    Image.effect_noise((300, 200), 90).save(file, form, **options)
    return file.getvalue()


async def reason(data: bytes) -> str:
    """Why a picture cannot be used, which comes behind a good one."""
    with pytest.raises(UnusablePicture) as refusal:
        await inspect_stills([picture("PNG"), data], owner="alice")
    assert refusal.value.index == 1
    return refusal.value.reason


async def outcome(data: bytes) -> str:
    """Why a picture cannot be used; empty where it can."""
    try:
        await inspect_stills([data], owner="alice")
    except UnusablePicture as refusal:
        return refusal.reason
    return ""


async def test_all_pictures_of_a_request_are_decoded() -> None:
    modes = [picture("PNG", mode=mode) for mode in ("1", "L", "P", "RGBA", "I;16")]
    more = [noise("JPEG", progressive=True), noise("WEBP", lossless=True), noise("GIF")]
    forms = [picture(form) for form in FORMS]
    await inspect_stills([*forms, *modes, *more, moving("MPO")], owner="alice")


@pytest.mark.parametrize("form", FORMS)
def test_the_size_is_in_the_header(form: str) -> None:
    header = read_still_header(picture(form, (300, 200)))
    assert header == (f"image/{form.lower()}", 300, 200)


def test_what_has_no_pixels_is_no_gif() -> None:
    whole = picture("GIF", (300, 200))
    assert read_still_header(whole[:9]) is None
    assert read_still_header(whole[:6] + bytes(2) + whole[8:]) is None


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
async def test_what_moves_is_refused(form: str) -> None:
    assert await reason(moving(form)) == "It is animated: send one frame of it."


@pytest.mark.parametrize("form", FORMS)
async def test_a_truncated_picture_is_refused(form: str) -> None:
    whole = noise(form)
    assert await reason(whole[: len(whole) // 2]) == "It cannot be decoded."


@pytest.mark.parametrize(
    "data", [b"", b"<svg/>", film(), model(), picture("TIFF"), picture("BMP")], ids=len
)
async def test_what_is_no_picture_is_refused(data: bytes) -> None:
    assert await reason(data) == "It is no PNG, JPEG, WebP or GIF picture."


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *chunks: bytes, pixels: bytes = b"") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(pixels or bytes((3 * width + 1) * height))
    ends = (chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join([chunk(b"IHDR", head), *chunks, *ends])


async def test_a_tiny_file_of_many_pixels_is_refused_by_its_header() -> None:
    assert await reason(png(16_385, 1)) == "It is too large: 16,385 x 1 pixels."
    assert await reason(png(16_000, 16_000, pixels=b"x")) == (
        "It is too large: 16,000 x 16,000 pixels."
    )


async def test_a_gif_whose_frame_is_larger_than_its_screen_is_refused() -> None:
    whole = bytearray(picture("GIF", (2_000, 2_000)))
    whole[6:10] = struct.pack("<HH", 1, 1)
    assert await reason(bytes(whole)) == "Its header and its content have different sizes."


async def test_what_unpacks_to_gigabytes_beside_the_pixels_breaks_nothing() -> None:
    """A colour profile, a text and pixels behind the last line, of a thousandth of their size."""
    packed = zlib.compress(bytes(50_000_000), 9)
    profile = png(2, 2, chunk(b"iCCP", b"x\0\0" + packed))
    text = png(2, 2, chunk(b"zTXt", b"x\0\0" + packed))
    pixels = png(2, 2, pixels=bytes(50_000_000))
    for data in (profile, text, pixels):
        assert await outcome(data) in ("", "It cannot be decoded.")


async def test_broken_pictures_are_refused_or_decoded_and_break_nothing() -> None:
    for form in FORMS:
        for step in (97, 499):
            data = bytearray(noise(form))
            for place in range(40, len(data), step):
                data[place] ^= 0x5A
            assert (await outcome(bytes(data)))[:3] in ("", "It ")


async def test_what_is_not_decoded_in_time_may_be_good_all_the_same() -> None:
    with pytest.raises(ServiceUnavailable):
        await inspect_stills([picture("PNG")], owner="alice", timeout=0.01)


async def test_one_request_of_an_account_and_two_of_all_are_looked_at_at_a_time() -> None:
    owners = ["alice", "alice", "alice", "bob", "charlie"]
    data = [picture("PNG")]
    tasks = [asyncio.create_task(inspect_stills(data, owner=owner)) for owner in owners]
    most = 0
    while not all(task.done() for task in tasks):
        most = max(most, len(inspectors("media.probe.still_inspector")))
        await asyncio.sleep(0.005)
    assert [task.result() for task in tasks] == [None] * 5
    assert 1 <= most <= 2


async def test_whoever_goes_away_leaves_no_process_behind() -> None:
    task = asyncio.create_task(inspect_stills([picture("PNG")] * 20, owner="alice"))
    while not inspectors("media.probe.still_inspector"):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(500):
        if not inspectors("media.probe.still_inspector"):
            return
        await asyncio.sleep(0.01)
    pytest.fail("An inspector is left.")
