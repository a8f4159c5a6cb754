"""Halves of characters: JSON escapes a character beyond U+FFFF as two UTF-16 surrogates
(RFC 8259, section 7), and a provider that cuts its text between them sends each in a delta.

No decoder to UTF-8 takes a half alone, so that it is marked before it is decoded, and told by its
mark afterwards.
"""

import re
from typing import Final

# A noncharacter, which no text contains, in front of a private character for each surrogate.
MARK: Final = "\ufdd0"
_OFFSET: Final = 0xE000 - 0xD800
_HALF: Final = re.compile("[\ud800-\udfff]")
_MARKED: Final = re.compile(f"{MARK}([\ue000-\ue7ff])")


def mark_halves(text: str) -> str:
    """The text with a mark for each half of a character: it can be encoded."""
    return _HALF.sub(lambda half: MARK + chr(ord(half[0]) + _OFFSET), text)


def unmark_halves(text: str) -> str:
    """A text whose halves were marked, with the halves themselves."""
    return _MARKED.sub(lambda marked: chr(ord(marked[1]) - _OFFSET), text)


def split_half(text: str) -> tuple[str, str]:
    """The text, and the first half of a character at its end; empty where there is none."""
    return (text[:-1], text[-1]) if "\ud800" <= text[-1:] <= "\udbff" else (text, "")


def join_halves(text: str) -> str:
    """The text with its halves joined, and U+FFFD for those that stay alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
