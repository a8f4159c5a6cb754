"""Markdown that somebody wrote, as a part of a larger text."""

import re

# A line that begins or ends a block of code (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$", re.MULTILINE)


def closed(text: str) -> str:
    """The text with the block of code ended that it leaves open, as an answer does that was cut
    off: else all that follows would be code."""
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        _, marks, rest = fence.groups()
        if opening is None:
            # Backticks after backticks are code within a line.
            opening = None if marks[0] == "`" and "`" in rest else fence
        elif marks.startswith(opening[2]) and not rest.strip():
            opening = None
    return text if opening is None else f"{text}\n{opening[1]}{opening[2]}"
