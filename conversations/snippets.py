"""The part of a text in which something was found."""

import re
from collections.abc import Collection

LENGTH = 200  # characters, about
_BEFORE = 60
# Neither a letter nor a digit, as in the index: an underscore parts words.
_BORDER = r"(?<![^\W_])"


def snippet(text: str, words: Collection[str]) -> str:
    """One line of plain text around the first of the words, or of what begins like one; the
    beginning of the text where none of them is found."""
    found = re.search(f"{_BORDER}(?:{'|'.join(map(re.escape, words))})", text, re.IGNORECASE)
    start = max(0, found.start() - _BEFORE) if found else 0
    end = start + LENGTH
    part = text[start:end]
    if start > 0:
        part = "…" + _after_space(part)
    if end < len(text):
        part = _after_space(part[::-1])[::-1] + "…"
    return " ".join(part.split())


def _after_space(text: str) -> str:
    """Without a word that is cut at its beginning, unless that is all there is."""
    found = re.search(r"\s", text[:_BEFORE])
    return text[found.end() :] if found else text
