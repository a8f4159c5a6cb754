"""Sections of a prompt, and what they hold kept apart from what the prompt says itself."""

import re

TAGS = (
    "question",
    "answers",
    "answer",
    "instructions",
    "focus",
    "task",
    "form",
    "errors_found",
    "points_conceded",
    "points_held",
    "revised_answer",
)
# What would look like one of the prompt's own tags, at the beginning or the end of a section. No
# space is given back (`+`): else n spaces after a `<` would be cut in two in n ways.
_FORGED = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def fence(tag: str, text: str, *, label: str = "") -> str:
    """A section with somebody's words, which can neither end it nor begin another."""
    return section(tag, _FORGED.sub("&lt;", text), label=label)


def section(tag: str, text: str, *, label: str = "") -> str:
    """A section with words of the prompt itself, other sections among them."""
    opening = f'{tag} label="{label}"' if label else tag
    return f"<{opening}>\n{text}\n</{tag}>"
