"""What the simulator says when it is asked to revise an answer in the light of others'."""

import re

_WANTED = "<revised_answer>"
_OTHER = re.compile(r"<answer label=\"(\w+)\">")
_REVIEW = (
    "<errors_found>\n- The words differ, so not all of {others} are right.\n</errors_found>\n"
    "<points_conceded>\n- Others may be read beside this answer.\n</points_conceded>\n"
    "<points_held>\n- Each word is still one token.\n</points_held>\n"
    "<revised_answer>\nHaving read {others}: {prose}\n</revised_answer>"
)


def is_wanted(question: str) -> bool:
    """Does the prompt ask for the sections of a review?"""
    return _WANTED in question


def write(question: str, prose: str) -> str:
    """A review of the answers in the prompt, around what the simulator says anyway. The same each
    time, so that a debate comes to its end."""
    others = ", ".join(_OTHER.findall(question))
    return _REVIEW.format(others=others or "the other answers", prose=prose)
