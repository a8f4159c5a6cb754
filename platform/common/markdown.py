"""Markdown that somebody wrote, as a part of a larger text."""

import re

# A line that begins or ends a block of code (https://spec.commonmark.org/0.31.2/#fenced-code-blocks),
# wherever it stands: at a margin, in a list, in a quotation.
_FENCE = re.compile(r"^([ \t]*)((?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)*)(`{3,}|~{3,})(.*)$", re.MULTILINE)


def closed(text: str) -> str:
    """A text that was cut off, with the block of code ended that it leaves open: else all that
    follows would be code. One that began on the first line of an item or in a quotation ends with
    that."""
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        _, within, marks, rest = fence.groups()
        if opening is None:
            # Backticks after backticks are code within a line.
            opening = None if marks[0] == "`" and "`" in rest else fence
        elif marks.startswith(opening[3]) and not rest.strip() and not within.strip("> \t"):
            opening = None
    return text if opening is None or opening[2] else f"{text}\n{opening[1]}{opening[3]}"
