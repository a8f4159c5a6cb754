"""What the simulator says when it is asked for the title of a conversation."""

import re

_MESSAGE = re.compile(r"<message>\n(.*)\n</message>", re.DOTALL)
_ASKED = re.compile(r"\btitle\b", re.IGNORECASE)
_WORD = re.compile(r"[\w'\u2019-]+")
_WORDS = 5
_LONGEST_WORD = 20
# What no title ends with.
_LEADING_ON = re.compile(
    r"a|an|and|as|at|but|by|for|from|in|into|is|of|on|or|that|the|to|with", re.IGNORECASE
)


def is_wanted(question: str) -> bool:
    """Does the prompt show a message and ask, outside of it, for a title?"""
    return bool(_MESSAGE.search(question) and _ASKED.search(_MESSAGE.sub("", question)))


def write(question: str) -> str:
    """The message's first words, in capitals as headings have them."""
    shown = _MESSAGE.search(question)
    words = _WORD.findall(shown[1])[:_WORDS] if shown else []
    while words and _LEADING_ON.fullmatch(words[-1]):
        words.pop()
    return " ".join(word[:_LONGEST_WORD].capitalize() for word in words) or "Nothing"
