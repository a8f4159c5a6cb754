"""The simulator's tokens: each word is one, so that text, chunks and usage agree."""

import re

TOKENS_PER_MESSAGE = 4

_WORD = re.compile(r"\s*\S+|\s+$")


def tokens(text: str) -> tuple[str, ...]:
    """The words of the text, each with its leading space."""
    return tuple(_WORD.findall(text))
