"""Reads a PNG as a viewer would, checking what holds it together."""

import zlib
from struct import unpack


def size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels of a sound picture; fails if the picture is not."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks = dict(_chunks(data[8:]))
    assert next(iter(chunks)) == b"IHDR"
    assert list(chunks)[-1] == b"IEND"
    width, height, depth, kind = unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, kind) == (8, 3)  # indexed
    lines = zlib.decompress(chunks[b"IDAT"])
    assert len(lines) == height * (width + 1)
    assert max(lines) < len(chunks[b"PLTE"]) / 3
    return width, height


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    while data:
        (length,) = unpack(">I", data[:4])
        kind, content = data[4:8], data[8 : 8 + length]
        assert unpack(">I", data[8 + length : 12 + length])[0] == zlib.crc32(kind + content)
        found.append((kind, content))
        data = data[12 + length :]
    return found
