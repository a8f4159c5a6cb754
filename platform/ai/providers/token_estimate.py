"""An estimate of the tokens of a text: for output and input that the provider has not counted.

Tokenizers split a text before they merge its bytes: into words, groups of digits, runs of symbols
and line breaks (the patterns of tiktoken's `cl100k_base` and `o200k_base`). The estimate splits in
the same way, so that it takes code and prose alike, and adds what a piece of its kind has on
average. A word has one token, and another for each few letters after the first ones; scripts
without spaces have tokens by the character.

The averages are those of `o200k_base` over the Universal Declaration of Human Rights in 18
languages and over modules of Python's library; for Chinese, the mean of that and of the 0.6 that
DeepSeek's documentation tells. Other large vocabularies make up to 30 % more tokens of some
scripts.
"""

import re
from typing import NamedTuple

# The shares of accented words from which a text counts as of a language whose words have more
# tokens: German, French and Spanish have some, Polish, Turkish and Vietnamese many.
_SOME, _MANY = 0.02, 0.2
# So that a single accented word decides nothing.
_PRIOR_WORDS = 5

_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-\u024f\u1e00-\u1eff"
_PIECE = re.compile(
    rf"(?P<latin>[{_UPPER}]?[{_LOWER}]+)"
    rf"|(?P<capitals>[{_UPPER}]+)"
    r"|(?P<cyrillic>[\u0400-\u052f]+)"
    # Greek, Hebrew, Arabic, the scripts of India, Georgian, Ethiopic, Khmer, and their marks.
    r"|(?P<alphabet>[\u0300-\u03ff\u0530-\u0dff\u10a0-\u10ff\u1200-\u137f\u1780-\u17ff"
    r"\u1f00-\u1fff\ufb1d-\ufdff\ufe70-\ufefc]+)"
    r"|(?P<han>[\u3400-\u9fff\uf900-\ufaff]+)"
    r"|(?P<kana>[\u3040-\u30ff]+)"
    r"|(?P<hangul>[\u1100-\u11ff\uac00-\ud7a3]+)"
    r"|(?P<thai>[\u0e00-\u0eff\u1000-\u109f]+)"
    r"|(?P<digits>\d{1,3})"
    r"|(?P<line>[ \t]*\n\s*)"
    r"|(?P<indent>[ \t]{2,})"
    # A line that is drawn with one symbol is a token or two.
    r"|(?P<rule>-{4,}|={4,}|\*{4,}|#{4,}|_{4,}|\.{4,}|/{4,}|~{4,})"
    r"|(?P<symbols>[!-/:-@\[-`{-~\x00-\x08\x0e-\x1f\x7f]{1,2}\n*)"
    r"|(?P<emoji>[\U0001f000-\U0001faff])"
    r"|(?P<other>\S)"
)


class _Word(NamedTuple):
    """A word has one token for its first `free` letters, and one for each `more` after them."""

    free: int
    more: float

    def hundredths(self, letters: int) -> int:
        return 100 + max(0, round(100 * (letters - self.free) / self.more))


_PLAIN, _SOME_ACCENTS, _MANY_ACCENTS = _Word(8, 8), _Word(5, 5), _Word(3, 3)
_WORDS = {"capitals": _Word(2, 3), "cyrillic": _Word(4, 4), "alphabet": _Word(3, 2.5)}
# Hundredths of a token for each character.
_CHARACTERS = {"han": 70, "kana": 85, "hangul": 75, "thai": 43, "emoji": 200}


def estimate_text(text: str) -> int:
    """An estimate of the tokens of a text, at least 1 and at most its bytes in UTF-8."""
    pieces = _Pieces()
    pieces.read(text)
    return max(1, pieces.hundredths // 100)


class GrowingText:
    """The text of a stream, estimated as often as asked: each word is read once."""

    __slots__ = ("_read", "_unread", "deltas")

    def __init__(self) -> None:
        self.deltas = 0
        self._unread: list[str] = []
        self._read = _Pieces()

    def add(self, delta: str) -> None:
        """Add a delta that is not empty."""
        self.deltas += 1
        self._unread.append(delta)

    @property
    def tokens(self) -> int:
        """The estimate of the whole text, at least one token for each delta."""
        if not self.deltas:
            return 0
        text = "".join(self._unread)
        boundary = _last_boundary(text)
        self._read.read(text[:boundary])
        rest = text[boundary:]
        self._unread = [rest] if rest else []
        whole = self._read.copy()
        whole.read(rest)
        return max(self.deltas, whole.hundredths // 100)


class _Pieces:
    """The pieces of a text. `others` are hundredths of a token."""

    __slots__ = ("accented", "latin", "others")

    def __init__(self) -> None:
        self.latin: dict[int, int] = {}  # words by their letters
        self.accented = 0  # of these words
        self.others = 0

    def copy(self) -> "_Pieces":
        """The same pieces, to be read on from."""
        copied = _Pieces()
        copied.latin, copied.accented, copied.others = dict(self.latin), self.accented, self.others
        return copied

    def read(self, text: str) -> None:
        """Add the pieces of a text."""
        for piece in _PIECE.finditer(text):
            kind, length = piece.lastgroup or "", piece.end() - piece.start()
            if kind == "latin":
                self.latin[length] = self.latin.get(length, 0) + 1
                self.accented += not piece.group().isascii()
            elif word := _WORDS.get(kind):
                self.others += word.hundredths(length)
            else:
                self.others += _CHARACTERS[kind] * length if kind in _CHARACTERS else 100

    @property
    def hundredths(self) -> int:
        """Hundredths of a token."""
        share = self.accented / (sum(self.latin.values()) + _PRIOR_WORDS)
        word = _MANY_ACCENTS if share > _MANY else _SOME_ACCENTS if share > _SOME else _PLAIN
        words = sum(word.hundredths(letters) * count for letters, count in self.latin.items())
        return self.others + words


def _last_boundary(text: str) -> int:
    """The end of the last piece that no further text changes: before the space after a word, or
    after one of the marks that stand in texts without spaces."""
    space = text.rfind(" ")
    while space > 0 and text[space - 1].isspace():
        space = text.rfind(" ", 0, space)
    return max(space, text.rfind("\u3002") + 1, text.rfind("\uff0c") + 1, 0)
