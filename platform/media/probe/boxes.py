"""The boxes of an MP4 file (ISO/IEC 14496-12, 4.2)."""

from collections.abc import Iterator
from struct import unpack
from typing import IO

from media.probe.errors import UnusableMedia

# A film in fragments has two boxes for each of them.
_MAX_BOXES = 20_000
_MAX_BRANDS = 64
# What files are called that follow the standard, in one of its versions. QuickTime's and pictures'
# have other names.
_BRANDS = (b"iso", b"mp4")


def check_boxes(file: IO[bytes], size: int) -> None:
    """Check that the boxes of a file of `size` bytes are those of an MP4 and fill it exactly.
    Raises UnusableMedia."""
    kinds = [kind for kind, _ in _boxes(file, size)]
    if kinds[:1] != [b"ftyp"] or not _is_mp4(file):
        raise UnusableMedia("It is no MP4 file.")
    if b"moov" not in kinds:
        raise UnusableMedia("It has no index of its content.")
    if b"mdat" not in kinds:
        raise UnusableMedia("It has no content.")


def _boxes(file: IO[bytes], size: int) -> Iterator[tuple[bytes, int]]:
    """The type and the size of each box of the outermost level."""
    place = 0
    for _ in range(_MAX_BOXES):
        if place == size:
            return
        file.seek(place)
        kind, length = _box_header(file.read(16), size - place)
        if length > size - place:
            raise UnusableMedia("It is truncated, or its boxes have wrong lengths.")
        yield kind, length
        place += length
    raise UnusableMedia("It has too many boxes.")


def _box_header(head: bytes, left: int) -> tuple[bytes, int]:
    """The type and the size of a box. The size 0 means the rest of the file; 1, that the size has
    64 bits."""
    if len(head) < 8:
        raise UnusableMedia("It ends in the middle of a box.")
    length, kind = unpack(">I4s", head[:8])
    least = 8
    if length == 0:
        length = left
    elif length == 1:
        length, least = int.from_bytes(head[8:], "big"), 16
    if length < least:
        raise UnusableMedia("It is truncated, or its boxes have wrong lengths.")
    return kind, length


def _is_mp4(file: IO[bytes]) -> bool:
    """Is one of the brands in the first box, `ftyp`, that of an MP4?"""
    file.seek(0)
    (length,) = unpack(">I", file.read(4))
    body = file.read(min(length, 4 * _MAX_BRANDS) - 4)[4:]
    brands = [body[:4], *(body[at : at + 4] for at in range(8, len(body) - 3, 4))]
    return any(brand.startswith(_BRANDS) for brand in brands)
