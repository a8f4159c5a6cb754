"""Detects the type of a file from its bytes. Its name and its sender's claim play no part.

Only the signature of the first bytes counts, and nothing is unpacked: an archive bomb is an
archive.
"""

import codecs
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import filetype

from media.files.types import TEXT, UNKNOWN

# A format of its own, although its bytes can all be text.
_PDF = b"%PDF-"
# The number of bytes that are searched for signatures.
_HEAD_BYTES = 8192
# ASCII's control characters, but for tab, line feed, form feed, carriage return and escape.
_CONTROLS = bytes([*range(9), 11, *range(14, 27), *range(28, 32), 127])
# In text, at most one of this many characters is a control character.
_TEXT_PER_CONTROL = 100


class Kind(NamedTuple):
    """`is_text`: the bytes are UTF-8 text, in whatever language."""

    media_type: str
    is_text: bool


def sniff(chunks: Iterable[bytes]) -> Kind:
    """The kind of a file with these bytes; its first chunk contains the first 8 KiB."""
    chunks = iter(chunks)
    head = next(chunks, b"")
    if not head.startswith(_PDF) and _is_text(chain([head], chunks)):
        return Kind(TEXT, is_text=True)
    return Kind(filetype.guess_mime(head[:_HEAD_BYTES]) or UNKNOWN, is_text=False)


def _is_text(chunks: Iterable[bytes]) -> bool:
    """UTF-8 without NUL, and with few control characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    size = controls = 0
    try:
        for chunk in chunks:
            if 0 in chunk:
                return False
            decoder.decode(chunk)
            size += len(chunk)
            controls += len(chunk) - len(chunk.translate(None, _CONTROLS))
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return controls * _TEXT_PER_CONTROL <= size
