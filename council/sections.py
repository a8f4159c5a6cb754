"""Reading what a model says in a debate: its notes on the others' answers, and its own, revised.

What has come so far is read from its beginning each time: an answer is a few hundred kilobytes at
most, so that needs no state, and the pieces in which the text came make no difference.
"""

import re
from typing import Any, Final

from msgspec import Struct

ERRORS: Final = "errors_found"
CONCEDED: Final = "points_conceded"
HELD: Final = "points_held"
ANSWER: Final = "revised_answer"
# What a model says in place of a revised answer where it changes nothing.
UNCHANGED: Final = "UNCHANGED"

MAX_NOTE = 3_000  # characters of one section, so that the events that carry them stay small
# A text in which no section has begun after so many characters has none: it is all answer.
PREAMBLE = 400

_TAGS = (ERRORS, CONCEDED, HELD, ANSWER)
_OPENINGS = tuple(f"<{tag}>" for tag in _TAGS)
_LONGEST = max(map(len, _OPENINGS))
_OPENING, _CLOSING = f"<{ANSWER}>", f"</{ANSWER}>"
_TAG = re.compile(rf"</?(?:{'|'.join(_TAGS)})>")
# The word may be set in bold or quoted, and an explanation may follow.
_STANDS = re.compile(rf"[\W_]{{0,6}}{UNCHANGED}(?![A-Za-z])")
# As many characters as show whether a text begins with that word.
_HEAD = len(UNCHANGED) + 7


class Sections(Struct, frozen=True):
    """The parts of a revision. `answer` is None where the previous answer stands."""

    errors: str = ""
    conceded: str = ""
    held: str = ""
    answer: str | None = None


def answer_so_far(text: str) -> str:
    """What is certain of the revised answer after the first part of a text: what `read` finds in
    the whole begins with it."""
    body, closed = _revised(text)
    certain = closed or len(body) >= _HEAD
    return body if certain and not _STANDS.match(body) else ""


def read(text: str) -> Sections:
    """The parts of a whole text. Where a model ignores the form, all of its text is the answer."""
    notes, answer = "", text.strip()
    if _is_in_form(text):
        notes = _without_answer(text)
        answer = _revised(text)[0] if _OPENING in text else _loose(text)
    return Sections(
        errors=_note(notes, ERRORS),
        conceded=_note(notes, CONCEDED),
        held=_note(notes, HELD),
        answer=None if not answer or _STANDS.match(answer) else answer,
    )


def revise(text: str, before: str, *, failed: bool) -> tuple[str, dict[str, Any]]:
    """The answer that a card has after a round, and what its version's details tell of it. `before`
    is its answer until then, which a call that failed does not confirm."""
    found = read(text)
    stands = "" if failed else before
    answer = stands if found.answer is None else found.answer
    return answer, {
        "errors": found.errors,
        "conceded": found.conceded,
        "held": found.held,
        "changed": not failed and answer != before,
    }


def _is_in_form(text: str) -> bool:
    return any(tag in text[: PREAMBLE + len(tag)] for tag in _OPENINGS)


def _revised(text: str) -> tuple[str, bool]:
    """The revised answer as far as it has come, and is that all of it?"""
    if not _is_in_form(text):
        return (text.strip() if len(text) >= PREAMBLE + _LONGEST else ""), False
    body, closing, _ = text.partition(_OPENING)[2].partition(_CLOSING)
    return (body if closing else _without_half_a_closing(body)).strip(), bool(closing)


def _without_half_a_closing(body: str) -> str:
    start = body.rfind("<")
    return body[:start] if start >= 0 and _CLOSING.startswith(body[start:]) else body


def _without_answer(text: str) -> str:
    before, _, rest = text.partition(_OPENING)
    return before + rest.partition(_CLOSING)[2]


def _note(text: str, tag: str) -> str:
    """A section, which the next one ends where its own end is missing."""
    inside = text.partition(f"<{tag}>")[2]
    return _TAG.split(inside, maxsplit=1)[0].strip()[:MAX_NOTE]


def _loose(text: str) -> str:
    """What follows the last section: an answer whose tags were forgotten, if there is no answer
    and that section has ended."""
    *_, last = _TAG.finditer(text)
    return text[last.end() :].strip() if last[0].startswith("</") else ""
