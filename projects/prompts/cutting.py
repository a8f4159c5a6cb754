"""Long texts and files in prompts: what fits of them, and the names of what is left out."""

import re
from collections.abc import Iterator, Mapping, Sequence

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


def beginning_of(text: str, characters: int) -> str:
    """The first characters of a text, and a note where that is not all of it."""
    if len(text) <= characters:
        return text
    return f"{text[:characters]}\n[These are the first {characters} of {len(text)} characters.]"


def lines_within(characters: int, text: str) -> str:
    """The first lines of a text that fit, and how many are left out."""
    if len(text) <= characters:
        return text
    kept = text[: max(0, characters)].rpartition("\n")[0]
    left_out = text.count("\n", len(kept)) + (not kept)
    return f"{kept}\n[{left_out} more lines, left out for want of room.]".lstrip("\n")


def newest_within(characters: int, texts: Sequence[str]) -> list[str]:
    """The newest of these texts that fit, in their order, and how many earlier ones do not. Of the
    newest there is at least the beginning."""
    kept: list[str] = []
    for text in reversed(texts):
        if len(text) > characters:
            break
        kept.append(text)
        characters -= len(text)
    if texts and not kept:
        kept.append(beginning_of(texts[-1], max(0, characters)))
    left_out = len(texts) - len(kept)
    note = [f"[{left_out} earlier, left out for want of room.]"] if left_out else []
    return [*note, *reversed(kept)]


class Filled:
    """Room for texts: what was put into it leaves less for those that follow."""

    def __init__(self, characters: int) -> None:
        self.left = max(0, characters)

    def take(self, text: str, otherwise: str) -> str:
        """The text, or `otherwise` where it does not fit."""
        if len(text) > self.left:
            return otherwise
        self.left -= len(text)
        return text


def files_within(room: int | Filled, files: Mapping[str, str | None]) -> list[str]:
    """Files by their paths, each as a section: in their order, as long as there is room. A note
    stands in the place of one that does not fit, and of one that is no text (None)."""
    filled = room if isinstance(room, Filled) else Filled(room)
    return [delimit("file", shown(text, filled), name=path) for path, text in files.items()]


def shown(text: str | None, room: Filled) -> str:
    """The content of a file in a prompt, or a note in its place."""
    if text is None:
        return "[No text, or too long to be shown.]"
    return room.take(text, f"[{len(text)} characters, left out for want of room.]")


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
