"""The type and the size of pictures by their headers. Nothing is decoded."""

import io
from collections.abc import Iterator
from struct import unpack
from typing import IO, NamedTuple

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
_GIFS = (b"GIF87a", b"GIF89a")
# Segments in front of the frame header. Profiles and previews take some hundred of them.
_MAX_SEGMENTS = 1_000
# Start of frame, whatever the compression: C0 to CF without DHT, JPG and DAC (ITU T.81, B.1.1.3).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9


class Header(NamedTuple):
    """Width and height are in pixels, and above zero."""

    media_type: str
    width: int
    height: int


def read_header(file: IO[bytes]) -> Header | None:
    """The header of a PNG, JPEG or WebP picture from its beginning; None of any other file."""
    file.seek(0)
    head = file.read(30)
    if head.startswith(_PNG):
        media_type, size = "image/png", _png_size(head)
    elif head.startswith(_JPEG):
        media_type, size = "image/jpeg", _jpeg_size(file)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        media_type, size = "image/webp", _webp_size(head)
    else:
        return None
    return Header(media_type, *size) if size is not None and all(size) else None


def read_still_header(data: bytes) -> Header | None:
    """The header of a PNG, JPEG, WebP or GIF picture; None of any other file."""
    return _gif_header(data) or read_header(io.BytesIO(data))


def _gif_header(data: bytes) -> Header | None:
    """The size is that of the logical screen (GIF89a, 18)."""
    if len(data) < 10 or not data.startswith(_GIFS):
        return None
    width, height = unpack("<HH", data[6:10])
    return Header("image/gif", width, height) if width and height else None


def _png_size(head: bytes) -> tuple[int, int] | None:
    """The image header comes first (W3C PNG, 11.2.2)."""
    if head[8:16] != b"\0\0\0\x0dIHDR" or len(head) < 24:
        return None
    width, height = unpack(">II", head[16:24])
    return width, height


def _webp_size(head: bytes) -> tuple[int, int] | None:
    """The size is in the first chunk, whose form is lossy, lossless or extended (RFC 9649, 2)."""
    if len(head) < 30:
        return None
    chunk = head[12:16]
    if chunk == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L" and head[20] == 0x2F:
        (bits,) = unpack("<I", head[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg_size(file: IO[bytes]) -> tuple[int, int] | None:
    """The size is in the frame header (ITU T.81, B.2.2), which comes after other segments."""
    for marker in _jpeg_markers(file):
        if marker in _FRAMES:
            frame = file.read(7)
            if len(frame) < 7:
                return None
            height, width = unpack(">HH", frame[3:])
            return width, height
    return None


def _jpeg_markers(file: IO[bytes]) -> Iterator[int]:
    """The markers in front of the first scan. The file stands behind a marker while it is
    looked at."""
    place = len(_JPEG)
    for _ in range(_MAX_SEGMENTS):
        file.seek(place)
        mark = file.read(2)
        if len(mark) < 2 or mark[0] != 0xFF or mark[1] in (_START_OF_SCAN, _END_OF_IMAGE):
            return
        place += 1
        if mark[1] == 0xFF:  # a fill byte
            continue
        yield mark[1]
        place += 1
        if mark[1] not in _WITHOUT_LENGTH:
            file.seek(place)
            place += max(2, int.from_bytes(file.read(2), "big"))
