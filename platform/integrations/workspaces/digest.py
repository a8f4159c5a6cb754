"""A digest of a repository for a model that plans work on it: the README, and the tree of files
with what they define, in a bounded number of bytes.

Folders are opened from the top, of those at one depth the small ones first, as long as there is
room: a large repository is shown by its upper folders, with the number of files in each. The room
that names of files leave is for symbols: each file has its first one before any has its second.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from integrations.githosts.types import SUBMODULE, SYMLINK, Entry
from integrations.workspaces.filetypes import is_generated_folder, is_written_by_hand
from integrations.workspaces.languages import language_of
from integrations.workspaces.symbols import Symbol

MAX_BYTES = 30_000
_README_BYTES = 6_000
# Folders in folders that are told apart.
_MAX_DEPTH = 40
_CUT = "\n[cut]"
_INDENT = "  "
# Files whose symbols are shown, and the bytes of each.
MAX_SOURCES = 60
_MAX_SOURCE = 100_000
# Those that stand aside of what a repository is about are read last.
_ASIDE = frozenset({"test", "tests", "__tests__", "spec", "docs", "examples", "migrations"})
_MORE = ", …"
# A method is found under its class, a module by its file.
_SHOWN_KINDS = ("class", "interface", "type", "function", "export", "constant")


@dataclass(slots=True)
class _Folder:
    """`count` are all files below it, `files` the names of those that are shown. `path` ends with
    a slash, unless it is empty."""

    name: str
    depth: int
    path: str = ""
    count: int = 0
    hidden: int = 0
    folders: dict[str, "_Folder"] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    is_open: bool = False

    def lines(self, symbols: Mapping[str, str] | None = None) -> list[str]:
        """Its own files when it is opened, with the symbols of each, by path."""
        indent, after = _INDENT * self.depth, symbols or {}
        shown = [f"{indent}{name}{after.get(self.path + name, '')}" for name in sorted(self.files)]
        if self.hidden:
            shown.append(f"{indent}({_files(self.hidden)} generated, binary or deep)")
        return shown

    def title(self) -> str:
        indent = _INDENT * (self.depth - 1)
        if self.is_open:
            return f"{indent}{self.name}/"
        return f"{indent}{self.name}/ ({_files(self.count)})"

    def cost(self) -> int:
        """The bytes that opening it adds: its files, and the closed folders in it."""
        folders = [folder.title() for folder in self.folders.values()]
        return sum(len(line.encode()) + 1 for line in [*self.lines(), *folders])


def readme_of(entries: Iterable[Entry]) -> Entry | None:
    """The README of the repository: of those at the top, the first by name."""
    found = [
        entry
        for entry in entries
        if "/" not in entry.path
        and entry.path.lower().partition(".")[0] == "readme"
        and entry.mode not in (SYMLINK, SUBMODULE)
    ]
    return min(found, key=lambda entry: entry.path, default=None)


def sources_of(entries: Iterable[Entry]) -> list[Entry]:
    """The files whose symbols a digest is to show: written by hand and of a known language, those
    of the upper folders first."""
    found = [entry for entry in entries if _is_source(entry)]
    return sorted(found, key=lambda entry: _rank(entry.path))[:MAX_SOURCES]


def digest(
    entries: Iterable[Entry],
    readme: str = "",
    symbols: Mapping[str, Sequence[Symbol]] | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> str:
    """The digest, of at most `max_bytes` bytes in UTF-8, with the symbols of files by their paths.
    No symbol takes the place of a file's name."""
    root = _tree(entries)
    top = _readme(readme, min(_README_BYTES, max_bytes // 2))
    _open(root, max_bytes - len(top.encode()))
    text = top + "\n".join(_render(root, {}))
    if symbols:
        named = {path: _words(symbols[path]) for path in _shown(root) if path in symbols}
        after = _fitting(named, max_bytes - len(text.encode()))
        text = top + "\n".join(_render(root, after))
    return _cut(text, max_bytes)


def _is_source(entry: Entry) -> bool:
    *folders, name = entry.path.split("/")
    return (
        language_of(name) is not None
        and is_written_by_hand(name)
        and not any(map(is_generated_folder, folders))
        and entry.mode not in (SYMLINK, SUBMODULE)
        and (entry.size is None or 0 < entry.size <= _MAX_SOURCE)
    )


def _rank(path: str) -> tuple[bool, int, str]:
    *folders, name = path.lower().split("/")
    is_aside = not _ASIDE.isdisjoint(folders) or name.startswith("test_") or ".test." in name
    return is_aside, len(folders), path


def _words(symbols: Sequence[Symbol]) -> list[str]:
    """Those of a file, each once: what is defined before what is constant."""
    shown = [each for each in symbols if each.kind in _SHOWN_KINDS]
    shown.sort(key=lambda each: each.kind == "constant")
    words = (f"{each.name}()" if each.kind == "function" else each.name for each in shown)
    return [*dict.fromkeys(words)]


def _fitting(named: Mapping[str, Sequence[str]], room: int) -> dict[str, str]:
    """As many symbols as there is room for, as what stands after the names of the files: the first
    of each file, then the second of each. A file of which not all are shown says so."""
    counts: Counter[str] = Counter()
    for path, cost in _costs(named):
        if cost > room:
            break
        room -= cost
        counts[path] += 1
    return {
        path: f": {', '.join(named[path][:count])}{_MORE if count < len(named[path]) else ''}"
        for path, count in counts.items()
    }


def _costs(named: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int]]:
    """The bytes that each symbol adds to the line of its file, in their order."""
    for place in range(max(map(len, named.values()), default=0)):
        for path, words in named.items():
            if place < len(words):
                yield path, len(f", {words[place]}{'' if place else _MORE}".encode())


def _shown(root: _Folder) -> list[str]:
    """The paths of the files that are shown, in the order in which they get symbols."""
    return sorted(
        (folder.path + name for folder in _opened(root) for name in folder.files), key=_rank
    )


def _opened(folder: _Folder) -> Iterator[_Folder]:
    yield folder
    for inner in folder.folders.values():
        if inner.is_open:
            yield from _opened(inner)


def _tree(entries: Iterable[Entry]) -> _Folder:
    root = _Folder("", 0)
    for entry in entries:
        folder = root
        folder.count += 1
        *folders, name = entry.path.split("/")
        for part in folders[:_MAX_DEPTH]:
            inner = folder.folders.get(part)
            if inner is None:
                inner = _Folder(part, folder.depth + 1, f"{folder.path}{part}/")
                folder.folders[part] = inner
            folder = inner
            folder.count += 1
        if len(folders) > _MAX_DEPTH:
            folder.hidden += 1
        elif entry.mode == SUBMODULE:
            folder.files.append(f"{name} (submodule)")
        elif is_written_by_hand(name):
            folder.files.append(name)
        else:
            folder.hidden += 1
    return root


def _open(root: _Folder, room: int) -> None:
    """Open folders as long as there is room. Generated ones stay closed."""
    waiting: list[tuple[int, int, int, _Folder]] = [(0, 0, 0, root)]
    number = 0
    while waiting:
        *_, folder = heapq.heappop(waiting)
        cost = folder.cost()
        if cost > room and folder is not root:
            continue
        room -= cost
        folder.is_open = True
        for inner in folder.folders.values():
            if not is_generated_folder(inner.name):
                number += 1
                heapq.heappush(waiting, (inner.depth, inner.count, number, inner))


def _render(folder: _Folder, symbols: Mapping[str, str]) -> list[str]:
    lines = []
    for _, inner in sorted(folder.folders.items()):
        lines.append(inner.title())
        if inner.is_open:
            lines += _render(inner, symbols)
    return [*lines, *folder.lines(symbols)]


def _readme(text: str, limit: int) -> str:
    if not text.strip():
        return ""
    return f"{_cut(text.strip(), limit)}\n\n"


def _cut(text: str, limit: int) -> str:
    """The text in at most `limit` bytes, cut between characters."""
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return encoded[: limit - len(_CUT)].decode(errors="ignore") + _CUT


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"
