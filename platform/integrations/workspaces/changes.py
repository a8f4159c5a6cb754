"""Which of a set of changes fit a repository as it is now.

Each file is checked on its own: what does not fit is left out with a reason, and the others become
one commit. Nothing is written over what somebody else has changed: a file that is updated, deleted
or moved has to be the one that the author of the change has seen.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from integrations.githosts.types import FILE, SUBMODULE, SYMLINK, Change, Entry, Op
from integrations.workspaces.merging import is_marked

MAX_FILE_BYTES = 1_000_000
WORKFLOWS = ".github/workflows/"

FaultCode = Literal[
    "conflict", "not_found", "too_large", "invalid_path", "protected", "rejected", "unchanged"
]


class StagedChange(Struct, frozen=True, kw_only=True):
    """A change of one file. `seen` are the ids of the blobs that its author may have seen at its
    path, or at `previous_path` of a moved file: that of the base, and those that were written from
    here since. `content` is None for a deleted file, and for a moved one that stays as it is.
    `base_sha` and `base` are the id and the text of the version that the content was made from:
    "" where there was none, and None for a text that is not known.

    `origin_sha` and `origin` are those of the version that the author had before, where the content
    was made from one of another branch since (a conflict that was resolved there): "" where there
    was no file. `origin` is None where there is no such second base, or its text is not known."""

    path: str
    op: Op
    seen: frozenset[str] = frozenset()
    content: str | None = None
    previous_path: str | None = None
    base_sha: str = ""
    base: str | None = None
    origin_sha: str = ""
    origin: str | None = None

    @property
    def source(self) -> str:
        """The path that has to be as its author has seen it."""
        return self.previous_path if self.op == "move" and self.previous_path else self.path


class FileFault(Struct, frozen=True):
    """Why a change is left out. `unchanged`: the repository has it already."""

    code: FaultCode
    message: str


class Fitting(Struct, frozen=True):
    """The changes that fit, those that free a path first, and the faults of the others, by path."""

    changes: tuple[Change, ...]
    faults: Mapping[str, FileFault]


def fit(
    staged: Iterable[StagedChange], tree: Mapping[str, Entry], *, may_write_workflows: bool
) -> Fitting:
    """Check changes against the entries of the newest commit, by path."""
    fitting = _Fitting(tree, may_write_workflows)
    ordered = sorted(staged, key=lambda each: (each.op not in ("delete", "move"), each.path))
    for change in ordered:
        fitting.add(change)
    return Fitting(tuple(fitting.changes), fitting.faults)


def blob_id(content: str) -> str:
    """Git's id of a file with this content (git help hash-object)."""
    data = content.encode()
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


class _Fitting:
    """`tree` is the repository as the changes that fit leave it, and `_names` are all of its paths
    and folders as file systems that do not tell capitals apart have them."""

    def __init__(self, tree: Mapping[str, Entry], may_write_workflows: bool) -> None:
        self.changes: list[Change] = []
        self.faults: dict[str, FileFault] = {}
        self._tree = dict(tree)
        self._may_write_workflows = may_write_workflows
        self._folders: dict[str, int] = {}
        self._names: dict[str, str] = {}
        for path in self._tree:
            self._count(path, 1)
        self._files_before = frozenset(self._tree)
        self._folders_before = frozenset(self._folders)

    def add(self, change: StagedChange) -> None:
        there = self._tree.get(change.path)
        if change.op == "create" and there is not None and there.sha in change.seen:
            change = replace(change, op="update")  # it was written from here before
        fault = self._fault(change)
        if fault is not None:
            self.faults[change.path] = fault
            return
        entry = self._tree.get(change.source)
        mode = entry.mode if entry is not None and change.op != "create" else FILE
        self.changes.append(
            Change(
                op=change.op,
                path=change.path,
                content=change.content,
                previous_path=change.previous_path if change.op == "move" else None,
                mode=mode,
            )
        )
        if change.op in ("delete", "move"):
            del self._tree[change.source]
            self._count(change.source, -1)
        if change.op in ("create", "move"):
            sha = blob_id(change.content) if change.content is not None else ""
            self._tree[change.path] = Entry(change.path, mode, sha, None)
            self._count(change.path, 1)

    def _fault(self, change: StagedChange) -> FileFault | None:
        if change.content is not None and len(change.content.encode()) > MAX_FILE_BYTES:
            return FileFault("too_large", f"The file has more than {MAX_FILE_BYTES:,} bytes.")
        if change.content is not None and is_marked(change.content):
            return FileFault("conflict", "Conflict markers are left in the file.")
        for path in {change.path, change.source}:
            if path.startswith(WORKFLOWS) and not self._may_write_workflows:
                message = "The token may not write workflows: it lacks the scope workflow."
                return FileFault("protected", message)
        if change.op != "create" and (fault := self._fault_of_source(change)) is not None:
            return fault
        return self._fault_of_place(change) if change.op in ("create", "move") else None

    def _fault_of_source(self, change: StagedChange) -> FileFault | None:
        entry = self._tree.get(change.source)
        if entry is None:
            return FileFault("not_found", "The file is not there any more.")
        if entry.mode in (SYMLINK, SUBMODULE):
            kind = "symbolic link" if entry.mode == SYMLINK else "submodule"
            return FileFault("protected", f"This is a {kind}, and not written from here.")
        if change.op == "update" and entry.sha == blob_id(change.content or ""):
            return FileFault("unchanged", "The repository has this content already.")
        if entry.sha not in change.seen:
            message = "Somebody has changed the file since the run has read it."
            return FileFault("conflict", message)
        return None

    def _fault_of_place(self, change: StagedChange) -> FileFault | None:
        """Of a path where a new file is to be."""
        found = self._tree.get(change.path)
        if found is not None:
            is_same = change.content is not None and found.sha == blob_id(change.content)
            if is_same and change.op == "create":
                return FileFault("unchanged", "The repository has this file already.")
            return FileFault("conflict", "There is a file with this path now.")
        # Hosts do not agree on a commit in which a file takes the place of a folder: what is freed
        # by this commit is for the next one.
        if change.path in self._folders or change.path in self._folders_before:
            return FileFault("conflict", "There is a folder with this path.")
        for parent in _parents(change.path):
            if parent in self._tree or parent in self._files_before:
                return FileFault("conflict", f"{parent} is a file, and no folder.")
        for name in [*_parents(change.path), change.path]:
            other = self._names.get(_folded(name), name)
            is_renamed = change.op == "move" and other == change.source
            if other != name and name not in self._folders and not is_renamed:
                message = f"It differs from {other} in capitals or accents alone."
                return FileFault("invalid_path", message)
        return None

    def _count(self, path: str, step: int) -> None:
        """Note that there is one more file at `path`, or one less, and so in its folders."""
        for folder in _parents(path):
            left = self._folders.get(folder, 0) + step
            if left > 0:
                self._folders[folder] = left
                self._names[_folded(folder)] = folder
            else:
                self._folders.pop(folder, None)
                self._names.pop(_folded(folder), None)
        if step > 0:
            self._names[_folded(path)] = path
        else:
            self._names.pop(_folded(path), None)


def _parents(path: str) -> list[str]:
    """The folders of a path, the upper ones first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _folded(name: str) -> str:
    """The name as a file system has it that tells neither capitals nor forms of accents apart."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
