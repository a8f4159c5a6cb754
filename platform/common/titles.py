"""What things are called: on one line, without what is not seen."""

import unicodedata

# Control and format characters, which may change how text around them is shown.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs"})
JOINERS = "\u200c\u200d"  # within words of some scripts, and in emoji


def one_line(text: str) -> str:
    """The text with single spaces, without what is not seen; empty where nothing is."""
    kept = "".join(char for char in text if char.isspace() or _is_seen(char))
    return " ".join(word for word in kept.split() if word.strip(JOINERS))


def first_line(text: str, limit: int) -> str:
    """What a thing is called before anybody has named it: the first line of a text that shows
    something, cut to `limit` characters."""
    line = next(filter(None, map(one_line, text.split("\n"))), "")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def shows_something(text: str) -> bool:
    """Is anything of the text seen?"""
    return any(
        not character.isspace() and character not in JOINERS and _is_seen(character)
        for character in text
    )


def _is_seen(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) not in _UNSEEN
