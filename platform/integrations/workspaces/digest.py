"""A digest of a repository for a model that plans work on it: the README, and the tree of files, in
a bounded number of bytes.

Folders are opened from the top, of those at one depth the small ones first, as long as there is
room: a large repository is shown by its upper folders, with the number of files in each.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from integrations.githosts.types import SUBMODULE, SYMLINK, Entry
from integrations.workspaces.filetypes import is_generated_folder, is_written_by_hand

MAX_BYTES = 30_000
_README_BYTES = 6_000
# Folders in folders that are told apart.
_MAX_DEPTH = 40
_CUT = "\n[cut]"
_INDENT = "  "


@dataclass(slots=True)
class _Folder:
    """`count` are all files below it, `files` the names of those that are shown."""

    name: str
    depth: int
    count: int = 0
    hidden: int = 0
    folders: dict[str, "_Folder"] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    is_open: bool = False

    def lines(self) -> list[str]:
        """Its own files, folders first, when it is opened."""
        indent = _INDENT * self.depth
        shown = [f"{indent}{name}" for name in sorted(self.files)]
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


def digest(entries: Iterable[Entry], readme: str = "", *, max_bytes: int = MAX_BYTES) -> str:
    """The digest, of at most `max_bytes` bytes in UTF-8."""
    root = _tree(entries)
    top = _readme(readme, min(_README_BYTES, max_bytes // 2))
    _open(root, max_bytes - len(top.encode()))
    text = top + "\n".join(_render(root))
    return _cut(text, max_bytes)


def _tree(entries: Iterable[Entry]) -> _Folder:
    root = _Folder("", 0)
    for entry in entries:
        folder = root
        folder.count += 1
        *folders, name = entry.path.split("/")
        for part in folders[:_MAX_DEPTH]:
            inner = folder.folders.get(part)
            if inner is None:
                inner = folder.folders[part] = _Folder(part, folder.depth + 1)
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


def _render(folder: _Folder) -> list[str]:
    lines = []
    for _, inner in sorted(folder.folders.items()):
        lines.append(inner.title())
        if inner.is_open:
            lines += _render(inner)
    return [*lines, *folder.lines()]


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
