"""What readers see of an answer while it comes: its text without markup, and its files."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from ai.generations.types import Piece
from projects.outputs import ENDING, MAX_FILES, MOVES, OPENING, OPS, Op, found_in
from projects.paths import MAX_PATH, fault_of

# Characters of an opening line that are kept: more than the longest path that can be used has.
_MAX_LINE = MAX_PATH + 100


class FileState(Struct, frozen=True):
    """A file of an answer: its block has begun, or is complete. Whether it can be used is known
    when the answer is read as a whole."""

    path: str
    op: Op | Literal["move"]
    state: Literal["begun", "written"]
    text: ClassVar[str] = ""  # as of a piece: it takes no room in what is read


Shown = Piece | FileState


class ShownText:
    """Takes an answer in pieces that may be cut anywhere, and tells what each of them shows.

    All texts together, with that of `rest`, are the lines outside of blocks, joined by line ends:
    `read_output(answer, mark).body`, but for the whitespace around it. Nothing is held back but the
    beginning of a line that may still become a marker, with the line end before it. A line end that
    nothing follows is not shown.
    """

    def __init__(self, mark: str) -> None:
        self._opening = _Marker(OPENING, mark, (f"@@FILE {mark}", f"@@SUMMARY {mark}"))
        self._ending = _Marker(ENDING, mark, (f"@@END {mark}",))
        self._held: str | None = ""  # the line so far; None where it is no marker
        self._line_end = ""  # before the next line of the text
        self._is_in_block = False
        self._file: FileState | None = None  # of the block
        self._files = 0

    def read(self, text: str) -> list[Shown]:
        """What the next piece shows."""
        return _joined(self._read(text))

    def rest(self) -> list[Shown]:
        """What is held back, where the answer ends here."""
        return _joined(self._end_line()) if self._held else []

    def _read(self, text: str) -> Iterator[Shown]:
        first, *lines = text.split("\n")
        yield from self._go_on(first)
        for line in lines:
            yield from self._end_line()
            yield from self._go_on(line)

    def _go_on(self, part: str) -> Iterator[Shown]:
        """A further part of a line."""
        if self._held is not None:
            line = self._held + part
            if (self._ending if self._is_in_block else self._opening).may_be(line):
                self._held = self._needed(line)
                return
            part, self._held = self._line_end + line, None
        if not self._is_in_block:
            yield Piece("text", part)

    def _needed(self, line: str) -> str:
        """What the rest of a marker can depend on: a closing line may have any number of spaces."""
        if self._is_in_block:
            return line.rstrip(" ") if self._ending.found_in(line) else line
        return line[:_MAX_LINE]

    def _end_line(self) -> Iterator[Shown]:
        line, self._held = self._held, ""
        if self._is_in_block:
            if line is not None and self._ending.found_in(line):
                self._is_in_block = False
                yield from self._close()
        elif line is not None and (opened := self._opening.found_in(line)):
            self._is_in_block = True
            yield from self._open(line, opened["name"], (opened["head"] or "").strip())
        else:
            yield Piece("text", "" if line is None else self._line_end + line)
            self._line_end = "\n"

    def _open(self, line: str, name: str, head: str) -> Iterator[Shown]:
        word, _, path = head.partition(" ")
        word, path = word.lower(), path.strip()
        is_file = name == "FILE" and word in OPS and len(line) < _MAX_LINE
        if is_file and fault_of(path) is None and self._files < MAX_FILES:
            self._files += 1
            self._file = FileState(path, "move" if word in MOVES else OPS[word], "begun")
            yield self._file

    def _close(self) -> Iterator[Shown]:
        if self._file is not None:
            yield replace(self._file, state="written")
            self._file = None


class _Marker(Struct, frozen=True):
    """A kind of marker, and what its lines begin with."""

    pattern: re.Pattern[str]
    mark: str
    beginnings: tuple[str, ...]

    def found_in(self, line: str) -> re.Match[str] | None:
        return found_in(line, self.pattern, self.mark)

    def may_be(self, line: str) -> bool:
        """Whether a line that begins with this one can be such a marker."""
        return any(each.startswith(line) for each in self.beginnings) or bool(self.found_in(line))


def text_of(shown: Iterable[Shown]) -> str:
    """The text alone."""
    return "".join(part.text for part in shown)


def _joined(shown: Iterable[Shown]) -> list[Shown]:
    """With neighbouring texts joined, and none that is empty."""
    joined: list[Shown] = []
    for is_text, group in groupby(shown, lambda part: isinstance(part, Piece)):
        parts = list(group)
        if is_text:
            text = text_of(parts)
            parts = [Piece("text", text)] if text else []
        joined += parts
    return joined
