"""Titles: on one line, without invisible characters."""

import unicodedata

# Control and format characters, which may change how the text around them is shown.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs"})
JOINERS = "\u200c\u200d"  # within words of some scripts, and in emoji
# Letters and symbols that show nothing by themselves: Hangul fillers, the empty braille pattern,
# joiners of marks, and variation selectors.
_BLANK = frozenset(
    {
        *JOINERS,
        *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
        *map(chr, range(0x180B, 0x1810)),
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    }
)


def one_line(text: str) -> str:
    """The text with single spaces, without invisible characters; may be empty."""
    kept = "".join(char for char in text if char.isspace() or _is_seen(char))
    return " ".join(word for word in kept.split() if word.strip(JOINERS))


def first_line(text: str, limit: int) -> str:
    """The default title: the first line of a text that has visible characters, cut to `limit`
    characters."""
    line = next(filter(None, map(one_line, text.split("\n"))), "")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def shows_something(text: str) -> bool:
    """Has the text any visible character?"""
    return any(
        not character.isspace() and character not in _BLANK and _is_seen(character)
        for character in text
    )


def _is_seen(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) not in _UNSEEN
