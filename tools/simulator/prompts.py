"""Answers to prompts of the service itself: the title of a conversation, the review of answers."""

import re

_MESSAGE = re.compile(r"<message>\n(.*)\n</message>", re.DOTALL)
_TITLE = re.compile(r"\btitle\b", re.IGNORECASE)
_WORD = re.compile(r"[\w'\u2019-]+")
_WORDS = 5
_LONGEST_WORD = 20
# No title ends with one of these words.
_LEADING_ON = re.compile(
    r"a|an|and|as|at|but|by|for|from|in|into|is|of|on|or|that|the|to|with", re.IGNORECASE
)
_SECTION = "<revised_answer>"
_ANSWER = re.compile(r"<answer label=\"(\w+)\">")
_REVIEW = (
    "<errors_found>\n- The words differ, so not all of {others} are right.\n</errors_found>\n"
    "<points_conceded>\n- Others may be read beside this answer.\n</points_conceded>\n"
    "<points_held>\n- Each word is still one token.\n</points_held>\n"
    "<revised_answer>\n{answer}\n</revised_answer>"
)


def asks_for_title(question: str) -> bool:
    """Does the prompt show a message, and ask for a title outside of the message?"""
    return bool(_MESSAGE.search(question) and _TITLE.search(_MESSAGE.sub("", question)))


def title(question: str) -> str:
    """The first words of the message, capitalised."""
    shown = _MESSAGE.search(question)
    words = _WORD.findall(shown[1])[:_WORDS] if shown else []
    while words and _LEADING_ON.fullmatch(words[-1]):
        words.pop()
    return " ".join(word[:_LONGEST_WORD].capitalize() for word in words) or "Nothing"


def asks_for_review(question: str) -> bool:
    """Does the prompt ask for the sections of a review?"""
    return _SECTION in question


def review_opening(question: str) -> str:
    """The first sentence of the revised answer."""
    return f"{_others(question)} were read."


def review(question: str, answer: str) -> str:
    """A review of the answers in the prompt. The revised answer does not depend on the contents of
    the other answers, so that a debate ends."""
    return _REVIEW.format(others=_others(question), answer=answer)


def _others(question: str) -> str:
    return ", ".join(_ANSWER.findall(question)) or "All"
