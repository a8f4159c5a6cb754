"""PNG pictures: one coloured tile for each word of the prompt, and the pictures that were given."""

import math
import zlib
from dataclasses import dataclass
from hashlib import shake_256
from itertools import pairwise
from struct import pack

from simulator.insets import add_insets

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_TILES = 256  # a palette has no more colours
_INDEXED = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of this size in pixels. A different `seed` gives a different picture of the same
    prompt. `references` are PNGs that it shows along its lower edge."""

    prompt: str
    width: int
    height: int
    seed: str
    references: tuple[bytes, ...] = ()

    def png(self) -> bytes:
        """The file, with the prompt as its description."""
        tiles = self._tiled()
        return add_insets(tiles, self.references) if self.references else tiles

    def _tiled(self) -> bytes:
        """An indexed PNG (RFC 2083), made without a library."""
        words = self.prompt.split()[:_MAX_TILES] or [""]
        colours = b"".join(shake_256(f"{self.seed} {word}".encode()).digest(3) for word in words)
        header = pack(">IIBBBBB", self.width, self.height, 8, _INDEXED, 0, 0, 0)
        description = b"Description\0\0\0\0\0" + self.prompt.encode()
        return (
            _SIGNATURE
            + _chunk(b"IHDR", header)
            + _chunk(b"PLTE", colours)
            + _chunk(b"iTXt", description)
            + _chunk(b"IDAT", zlib.compress(self._pixels(len(words)), level=1))
            + _chunk(b"IEND", b"")
        )

    def _pixels(self, tiles: int) -> bytes:
        """Lines of palette indexes, each after the byte that selects no filter."""
        columns = math.ceil(math.sqrt(tiles))
        rows = math.ceil(tiles / columns)
        lines = []
        for row, height in enumerate(_shares(self.height, rows)):
            first = row * columns
            line = b"".join(
                bytes([min(first + column, tiles - 1)]) * width
                for column, width in enumerate(_shares(self.width, columns))
            )
            lines.append((b"\0" + line) * height)
        return b"".join(lines)


def _shares(length: int, parts: int) -> list[int]:
    """A length in pixels divided into equal parts, but for rounding."""
    edges = [length * part // parts for part in range(parts + 1)]
    return [end - start for start, end in pairwise(edges)]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))
