"""The part of a text in which something was found."""

import re
import unicodedata
from collections.abc import Collection

LENGTH = 200  # characters, about
_BEFORE = 60
# Neither a letter nor a digit, as in the index: an underscore parts words.
_BORDER = r"(?<![^\W_])"
# Scripts without spaces have no borders: conversations/words.py.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")


class _Plain(dict[int, str]):
    """Each character without its marks; as many as there were."""

    def __missing__(self, point: int) -> str:
        is_letter = chr(point).isalpha() and not _UNSPACED.match(chr(point))
        plain = unicodedata.normalize("NFKD", chr(point))[0] if is_letter else chr(point)
        self[point] = plain
        return plain


_PLAIN = _Plain()


def snippet(text: str, words: Collection[str]) -> str:
    """One line of plain text around the first of the words, or of what begins like one; the
    beginning of the text where none of them is found."""
    wanted = "|".join(map(_pattern, sorted(words, key=len, reverse=True)))
    found = re.search(wanted, text.translate(_PLAIN), re.IGNORECASE)
    start = max(0, found.start() - _BEFORE) if found else 0
    end = start + LENGTH
    part = text[start:end]
    if start > 0:
        part = "…" + _after_space(part)
    if end < len(text):
        part = _after_space(part[::-1])[::-1] + "…"
    return " ".join(part.split())


def _pattern(word: str) -> str:
    plain = re.escape(word.translate(_PLAIN))
    return plain if _UNSPACED.match(word) else f"{_BORDER}{plain}"


def _after_space(text: str) -> str:
    """Without a word that is cut at its beginning, unless that is all there is."""
    found = re.search(r"\s", text[:_BEFORE])
    return text[found.end() :] if found else text
