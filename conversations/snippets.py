"""Snippets of texts around search results."""

import re
import unicodedata
from collections.abc import Collection

LENGTH = 200  # characters, about
_BEFORE = 60
# As in the index: conversations/migrations/0003_symbols.py. Normalising takes quadratic time for
# marks in a row here, too.
_LONG = re.compile("([^\x01-\u02ff]{64})")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670]")
_FOLDED = 40_000
# In scripts without spaces a word begins anywhere.
_LETTER = (
    r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3040-\u312f"
    r"\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaadf"
    r"\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_BEGINNING = re.compile(f"(?<!{_LETTER})(?={_LETTER})")
# Put before each word. PostgreSQL accepts no text that contains it.
_SIGN = "\0"


def snippet(text: str, words: Collection[str]) -> str:
    """One line of plain text around the first of the words, or of a word with that prefix; the
    beginning of the text where none is found."""
    start = max(0, _place(text, words) - _BEFORE)
    end = start + LENGTH
    part = text[start:end]
    if start > 0:
        part = "…" + _after_space(part)
    if end < len(text):
        part = _after_space(part[::-1])[::-1] + "…"
    return " ".join(part.split())


def _place(text: str, words: Collection[str]) -> int:
    """The position of the first of the words; 0 where none is found."""
    signed = _signed(text)
    places = [signed.find(_signed(word)) for word in words]
    first = min((place for place in places if place >= 0), default=0)
    return _unfolded(text, first - signed.count(_SIGN, 0, first))


def _signed(text: str) -> str:
    return _BEGINNING.sub(_SIGN, _folded(text))


def _folded(text: str) -> str:
    """The text without case and marks, which may change its length."""
    letters = unicodedata.normalize("NFKD", _LONG.sub(r"\1 ", text)).lower()
    letters = letters.replace("ß", "ss").replace("ς", "σ")  # noqa: RUF001 - Greek
    return unicodedata.normalize("NFC", _MARKS.sub("", letters))[:_FOLDED]


def _unfolded(text: str, place: int) -> int:
    """The position in the text that corresponds to this one in the folded text, or a few characters
    beside it, where the text is split between a letter and its mark."""
    start, end = 0, len(text)
    while place > 0 and end - start > 1:
        middle = (start + end) // 2
        length = len(_folded(text[start:middle]))
        if length > place:
            end = middle
        else:
            start, place = middle, place - length
    return start


def _after_space(text: str) -> str:
    """Without a first word that is cut, unless it is the only one."""
    found = re.search(r"\s", text[:_BEFORE])
    return text[found.end() :] if found else text
