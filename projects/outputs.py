"""The answer of a model that works on a subtask: a text, a summary, and files.

A file stands between two marker lines that have the mark of the step:

    @@FILE 8f3a21c4 create src/app.py
    print("hello")
    @@END 8f3a21c4

In the place of the content there may be edits of the file as it is:

    @@FILE 8f3a21c4 edit src/app.py
    @@OLD 8f3a21c4
    print("hello")
    @@NEW 8f3a21c4
    print("hello, world")
    @@END 8f3a21c4

A file is moved by its new path, and a line that says where it is now; content or edits may follow:

    @@FILE 8f3a21c4 move src/main.py
    @@FROM 8f3a21c4 src/app.py
    @@END 8f3a21c4

The mark is random and new for each step, so no text that a model was given can contain it: only the
author of the answer can end a block. Within a block every line but its end is content, markers of
other steps and of other blocks included.
"""

import re
from collections.abc import Iterator
from typing import Literal
from uuid import UUID

from msgspec import Struct

from projects.code_fences import without_fence
from projects.file_edits import Edit
from projects.paths import fault_of

Op = Literal["create", "update", "delete"]

MAX_FILES = 100
MAX_FILE = 400_000  # characters
MAX_SUMMARY_LINES = 5
MAX_SUMMARY_LINE = 300  # characters

# The lines that begin and end a block, and those within one. The patterns are the same for all
# marks: one for each answer would fill memory.
OPENING = re.compile(r"@@(?P<name>FILE|SUMMARY) (?P<mark>\S+)(?: (?P<head>.*))?\r?")
ENDING = re.compile(r"@@END (?P<mark>\S+) *\r?")
_SOURCE = re.compile(r"@@FROM (?P<mark>\S+) (?P<path>.*)")
_EDIT = re.compile(r"@@(?P<name>OLD|NEW) (?P<mark>\S+) *\r?")

# What models say for the three operations.
OPS: dict[str, Op] = {
    "create": "create",
    "add": "create",
    "write": "create",
    "update": "update",
    "modify": "update",
    "edit": "update",
    "delete": "delete",
    "remove": "delete",
    "move": "create",
    "rename": "create",
}
MOVES = ("move", "rename")


class OutputFile(Struct, frozen=True):
    """A file to write; `content` is empty where it is to be deleted, and where there are `edits` of
    what it is now. One that is moved is created, and has its `previous_path`; without content and
    edits it stays as it is. `is_unfenced`: a code fence around the whole was taken off."""

    path: str
    op: Op
    content: str
    edits: tuple[Edit, ...] = ()
    previous_path: str = ""
    is_unfenced: bool = False


class FileFault(Struct, frozen=True):
    """A file of an answer that cannot be used, and why; where `mended`, what was done so that it
    can be."""

    path: str
    message: str
    mended: bool = False


class Output(Struct, frozen=True, kw_only=True):
    """An answer. No two of the `files` have one path; `faults` are those that were left out."""

    body: str
    summary: str
    files: tuple[OutputFile, ...] = ()
    faults: tuple[FileFault, ...] = ()


class _Block(Struct):
    """A block while it is read. `head` are the words after the mark."""

    name: str
    head: str
    lines: list[str]
    is_closed: bool = False


def mark_of(step_id: UUID) -> str:
    """The mark of a step: the random end of its id (UUIDv7)."""
    return step_id.hex[-8:]


def found_in(line: str, marker: re.Pattern[str], mark: str) -> re.Match[str] | None:
    """The line as that marker of an answer with that mark."""
    found = marker.fullmatch(line)
    return found if found is not None and found["mark"] == mark else None


def read_output(text: str, mark: str) -> Output:
    """Read an answer whose step has that mark. Any text is an answer: this raises nothing."""
    body: list[str] = []
    blocks: list[_Block] = []
    for part in _parts(text, mark):
        if isinstance(part, _Block):
            blocks.append(part)
        else:
            body.append(part)
    files, faults = _files((block for block in blocks if block.name == "FILE"), mark)
    written = "\n".join(body).strip()
    summaries = [line for block in blocks if block.name == "SUMMARY" for line in block.lines]
    return Output(
        body=written,
        summary=_summary(summaries or written.split("\n")),
        files=tuple(files.values()),
        faults=tuple(faults),
    )


def _parts(text: str, mark: str) -> Iterator[_Block | str]:
    """The lines of the body, and the blocks."""
    block: _Block | None = None
    for line in text.split("\n"):
        if block is None:
            opened = found_in(line, OPENING, mark)
            if opened is None:
                yield line
            else:
                block = _Block(opened["name"], (opened["head"] or "").strip(), [])
        elif found_in(line, ENDING, mark):
            block.is_closed = True
            yield block
            block = None
        else:
            block.lines.append(line)
    if block is not None:
        yield block


def _files(blocks: Iterator[_Block], mark: str) -> tuple[dict[str, OutputFile], list[FileFault]]:
    """The files by path, of two with one path the later; and the faults."""
    files: dict[str, OutputFile] = {}
    faults: list[FileFault] = []
    for block in blocks:
        word, _, path = block.head.partition(" ")
        previous, lines = _source(block.lines, mark) if word.lower() in MOVES else ("", block.lines)
        path = path.strip()
        unfenced = without_fence(path, lines)
        lines = lines if unfenced is None else unfenced
        content = "\n".join(lines)
        edits = _edits(lines, mark)
        message = (
            _fault_of(block, word, path, content)
            or _fault_of_edits(edits)
            or _fault_of_move(word, path, previous)
        )
        if message is None and path not in files and len(files) == MAX_FILES:
            message = f"The answer has more than {MAX_FILES} files."
        if message is not None:
            if len(faults) < MAX_FILES:
                faults.append(FileFault(path[:MAX_SUMMARY_LINE], message))
            continue
        op = OPS[word.lower()]
        kept = "" if op == "delete" or edits else content
        files[path] = OutputFile(
            path, op, kept, tuple(edits or ()), previous, is_unfenced=unfenced is not None
        )
    return files, faults


def _source(lines: list[str], mark: str) -> tuple[str, list[str]]:
    """Where a moved file is now, and the lines after that."""
    for number, line in enumerate(lines):
        if found := found_in(line, _SOURCE, mark):
            return found["path"].strip(), lines[number + 1 :]
    return "", lines


def _fault_of_move(word: str, path: str, previous: str) -> str | None:
    if word.lower() not in MOVES:
        return None
    if not previous or previous == path:
        return 'A file that is moved has a line "@@FROM" with its path until now.'
    return fault_of(previous)


def _edits(lines: list[str], mark: str) -> list[Edit] | None:
    """The edits in a block; None where it has content, and none where they cannot be read."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines:
        if found := found_in(line, _EDIT, mark):
            parts.append((found["name"], []))
        elif parts:
            parts[-1][1].append(line)
        elif line.strip():
            return None
    names = [name for name, _ in parts]
    if not parts:
        return None
    if names != ["OLD", "NEW"] * (len(parts) // 2):
        return []
    texts = ["\n".join(text) for _, text in parts]
    return [Edit(old, new) for old, new in zip(texts[::2], texts[1::2], strict=True)]


def _fault_of_edits(edits: list[Edit] | None) -> str | None:
    if edits is not None and not edits:
        return 'Each edit has lines after "@@OLD" and lines after "@@NEW".'
    return None


def _fault_of(block: _Block, word: str, path: str, content: str) -> str | None:
    if word.lower() not in OPS:
        return 'The operation is not "create", "update" or "delete".'
    if not block.is_closed:
        return "The answer ended within the file."
    if len(content) > MAX_FILE:
        return f"The file has more than {MAX_FILE} characters."
    return fault_of(path)


def summary_of(text: str) -> str:
    """The first lines of a text that has no summary."""
    return _summary(text.split("\n"))


def _summary(lines: list[str]) -> str:
    """At most five lines that are not empty."""
    filled = [line.strip() for line in lines if line.strip()]
    return "\n".join(
        line if len(line) <= MAX_SUMMARY_LINE else f"{line[: MAX_SUMMARY_LINE - 1]}…"
        for line in filled[:MAX_SUMMARY_LINES]
    )
