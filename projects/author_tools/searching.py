"""What `search` answers: the lines of files that have a text, or define a symbol."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from integrations.workspaces.filetypes import is_generated_folder, is_written_by_hand
from integrations.workspaces.symbols import symbols_in
from projects.author_tools.arguments import Search, path_of
from projects.author_tools.listing import below
from projects.author_tools.results import Carried, cut_lines, cut_text
from projects.author_tools.working_copy import Refused, WorkingCopy

# Lines that one search finds, and characters of each that are shown.
MAX_FOUND: Final = 100
_MAX_LINE = 300
# Characters that are parsed for one search.
_MAX_PARSED = 500_000

# Path, number and text of a line.
_Found = tuple[str, int, str]


def search(copy: WorkingCopy, call: Search) -> Carried:
    """The lines that have the text. Raises Refused."""
    folder = path_of(call.path)
    paths = searchable(below(copy.paths, folder), folder)
    if not paths:
        raise Refused(f"There is no text to search in {folder or 'the repository'}.")
    known = {path: text for path in paths if (text := copy.text(path)) is not None}
    kinds = {"text": _lines_with, "symbol": _definitions_of}
    found = [*islice(kinds[call.kind](call.text, known), MAX_FOUND)]
    unknown = sum(1 for path in paths if not copy.is_known(path))
    lines = [f"{path}:{number}: {cut_text(line, _MAX_LINE)}" for path, number, line in found]
    count = f"{len(found)}{' or more' if len(found) == MAX_FOUND else ''}"
    notes = _notes(len(found), unknown)
    head = f"{count} found for the {call.kind} {call.text!r} in {len(known)} files."
    text = cut_lines([*notes, head, *lines], "Search in a folder, or for more.")
    return Carried(True, text, f"{count} found")


def searchable(paths: Iterable[str], folder: str) -> list[str]:
    """Those of the paths below a folder that somebody has probably written by hand, the upper ones
    first. Folders of generated files are searched where the folder is in one itself."""
    prefix = f"{folder}/" if folder else ""
    kept = [path for path in paths if _is_by_hand(path.removeprefix(prefix))]
    return sorted(kept, key=lambda path: (path.count("/"), path))


def _is_by_hand(path: str) -> bool:
    *folders, name = PurePosixPath(path).parts
    return is_written_by_hand(name) and not any(map(is_generated_folder, folders))


def _lines_with(text: str, files: Mapping[str, str]) -> Iterator[_Found]:
    """A text of several lines is found at its first one."""
    wanted = text.lower()
    for path, content in files.items():
        lower = content.lower()
        place = lower.find(wanted)
        while place >= 0:
            start = lower.rfind("\n", 0, place) + 1
            end = lower.find("\n", place + len(wanted))
            end = len(lower) if end < 0 else end
            yield path, lower.count("\n", 0, place) + 1, _line(content, lower, start, end)
            place = lower.find(wanted, end)


def _definitions_of(name: str, files: Mapping[str, str]) -> Iterator[_Found]:
    """The symbols whose name has this text in it. Only files with the text are parsed."""
    wanted, room = name.strip().lower(), _MAX_PARSED
    parsed: dict[str, str] = {}
    for path, content in files.items():
        if wanted in content.lower() and len(content) <= room:
            parsed[path] = content
            room -= len(content)
    for path, symbols in symbols_in(parsed).items():
        for symbol in symbols:
            if wanted in symbol.name.lower():
                yield path, symbol.line, f"{symbol.kind} {symbol.name}"


def _line(content: str, lower: str, start: int, end: int) -> str:
    """What stands there. Some capitals have another length than their small letters."""
    line = content[start:end] if len(content) == len(lower) else lower[start:end]
    return line.strip("\r\n")


def _notes(found: int, unknown: int) -> list[str]:
    notes = []
    if unknown:
        notes.append(f"[{unknown:,} more files were not looked at. Name a folder in `path`.]")
    if found == MAX_FOUND:
        notes.append("[There may be more. Search for a longer text, or in a folder.]")
    return notes
