"""Users' Markdown as a part of a larger text."""

import re

# The fence of a block of code (https://spec.commonmark.org/0.31.2/#fenced-code-blocks), at a
# margin, in a list or in a quotation.
_FENCE = re.compile(r"^([ \t]*)((?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)*)(`{3,}|~{3,})(.*)$", re.MULTILINE)


def closed(text: str) -> str:
    """A truncated text with its open block of code closed: otherwise all that follows would be
    code. A block that began on the first line of a list item or in a quotation ends with that item
    or quotation."""
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        _, within, marks, rest = fence.groups()
        if opening is None:
            # Backticks after other backticks are inline code.
            opening = None if marks[0] == "`" and "`" in rest else fence
        elif marks.startswith(opening[3]) and not rest.strip() and not within.strip("> \t"):
            opening = None
    return text if opening is None or opening[2] else f"{text}\n{opening[1]}{opening[3]}"
