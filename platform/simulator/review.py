"""What the simulator says when it is asked to revise an answer in the light of others'."""

import re

_WANTED = "<revised_answer>"
_OTHER = re.compile(r"<answer label=\"(\w+)\">")
_REVIEW = (
    "<errors_found>\n- The words differ, so not all of {others} are right.\n</errors_found>\n"
    "<points_conceded>\n- Others may be read beside this answer.\n</points_conceded>\n"
    "<points_held>\n- Each word is still one token.\n</points_held>\n"
    "<revised_answer>\n{answer}\n</revised_answer>"
)


def is_wanted(question: str) -> bool:
    """Does the prompt ask for the sections of a review?"""
    return _WANTED in question


def opening(question: str) -> str:
    """How the revised answer begins."""
    return f"{_others(question)} were read."


def write(question: str, answer: str) -> str:
    """A review of the answers in the prompt, with a revised one that does not depend on what they
    say: so a debate comes to its end."""
    return _REVIEW.format(others=_others(question), answer=answer)


def _others(question: str) -> str:
    return ", ".join(_OTHER.findall(question)) or "All"
