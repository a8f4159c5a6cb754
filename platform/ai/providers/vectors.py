"""Vectors in the format of the wire: base64 (RFC 4648) of little-endian 32-bit floats."""

import math
import struct
from binascii import b2a_base64
from collections.abc import Sequence

import msgspec

_FLOAT = 4  # bytes
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def dimensions_of(vector: str) -> int:
    """The number of dimensions, found without decoding: most vectors are passed on unchanged.

    Raises ValueError where it is not strict base64 of floats.
    """
    dimensions = len(vector) // 4 * 3 // _FLOAT
    padding = b"=" * (-dimensions % 3)
    ascii_text = vector.encode()
    is_whole = len(ascii_text) == (_FLOAT * dimensions + 2) // 3 * 4
    if not (is_whole and ascii_text.endswith(padding)):
        raise ValueError("No vector is that long.")
    if ascii_text.translate(None, _ALPHABET) != padding:
        raise ValueError("Not base64.")
    return dimensions


def encoded(numbers: Sequence[float]) -> str:
    """The numbers in the wire's format. Raises ValueError for one too large for 32 bits."""
    try:
        data = struct.pack(f"<{len(numbers)}f", *numbers)
    except OverflowError as error:
        raise ValueError("A number is too large.") from error
    return b2a_base64(data, newline=False).decode()


def decoded(vector: str) -> list[float]:
    """The numbers of `vector`. Raises ValueError where it is not strict base64 of floats."""
    data = msgspec.convert(vector, bytes)  # ten times faster than binascii
    if len(data) % _FLOAT:
        raise ValueError("A vector ends within a number.")
    return list(struct.unpack(f"<{len(data) // _FLOAT}f", data))


def shortened(vector: str, dimensions: int) -> str:
    """The first `dimensions` numbers of `vector`, scaled to length one again.

    OpenAI's own models shorten in this way ("Embeddings" guide): the first numbers matter most.
    Raises ValueError as `decoded` does.
    """
    numbers = decoded(vector)[:dimensions]
    norm = math.hypot(*numbers)
    return encoded([number / norm for number in numbers] if norm else numbers)
