"""Long texts and files in prompts: what fits of them, and the names of what is left out."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from projects.prompts.delimiters import delimit

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


def files_within(characters: int, files: Mapping[str, str | None]) -> list[str]:
    """Files by their paths, each as a section: in their order, as long as there is room. A note
    stands in the place of one that does not fit, and of one that is no text (None)."""
    sections = []
    for path, text in files.items():
        if text is None:
            shown = "[No text, or too long to be shown.]"
        elif len(text) > characters:
            shown = f"[{len(text)} characters, left out for want of room.]"
        else:
            shown = text
            characters -= len(text)
        sections.append(delimit("file", shown, name=path))
    return sections


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
