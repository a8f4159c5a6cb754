"""Long texts in prompts: whole sections of them, and the names of those that are left out."""

import re
from collections.abc import Iterator

from msgspec import Struct

_HEADING = re.compile(r"#{1,6} +(.*)")


class Cut(Struct, frozen=True):
    """A part of a text, and the headings of the sections that were left out."""

    text: str
    left_out: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """A sentence about what is missing; empty where nothing is."""
        if not self.left_out:
            return ""
        names = ", ".join(f'"{name}"' for name in self.left_out)
        return f"[For want of room these sections are left out: {names}.]"


def cut_to(text: str, characters: int) -> Cut:
    """The sections of a Markdown text that fit, from the first on. A heading begins a section,
    except in a block of code; a section that is longer than all of the room is left out."""
    if len(text) <= characters:
        return Cut(text)
    kept: list[str] = []
    left_out: list[str] = []
    for name, section in _sections(text):
        if len(section) <= characters:
            kept.append(section)
            characters -= len(section)
        else:
            left_out.append(name[:80])
    return Cut("".join(kept), tuple(left_out[:20]))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    name, lines, is_code = "the beginning", list[str](), False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        heading = None if is_code else _HEADING.match(line)
        if heading and lines:
            yield name, "".join(lines)
            lines = []
        if heading:
            name = heading[1].strip() or "a section"
        lines.append(line)
    yield name, "".join(lines)
