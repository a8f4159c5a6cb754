"""The entries of a commit as they are stored: JSON, compressed."""

import zlib
from collections.abc import Iterable
from typing import Final

import msgspec

from integrations.githosts.types import Entry

# The ids of blobs do not compress: higher levels cost time and save nothing.
_LEVEL: Final = 1

_decoder = msgspec.json.Decoder(list[tuple[str, str, str, int | None]])


def pack(entries: Iterable[Entry]) -> bytes:
    rows = [(each.path, each.mode, each.sha, each.size) for each in entries]
    return zlib.compress(msgspec.json.encode(rows), _LEVEL)


def unpack(listing: bytes) -> list[Entry]:
    return [Entry(*row) for row in _decoder.decode(zlib.decompress(listing))]
