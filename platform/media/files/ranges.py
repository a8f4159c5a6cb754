"""The part of a file that a request asks for (RFC 9110, 14)."""

import re
from typing import NamedTuple

from media.files.errors import RangeNotSatisfiable

# One range. Several are answered with the whole file, as the standard allows: players ask for one.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,100})-([0-9]{0,100})[ \t]*", re.IGNORECASE)


class Span(NamedTuple):
    """The bytes from `first` up to and without `end`."""

    first: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.first


def requested_span(header: str, *, size: int) -> Span | None:
    """The span that the header `Range` asks of a file of `size` bytes.

    None means the whole file: for an empty header, and for one that is not well-formed or has
    another unit or several ranges. Raises RangeNotSatisfiable.
    """
    found = _RANGE.fullmatch(header)
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        first, end = max(0, size - int(found[2])), size
    else:
        first, end = int(found[1]), int(found[2]) + 1 if found[2] else size
        if found[2] and end <= first:
            return None
    if first >= min(end, size):
        raise RangeNotSatisfiable(size)
    return Span(first, min(end, size))
