"""Bare repositories on disk, with the settings of their host beside them."""

import base64
import shutil
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pygit2
from pygit2.enums import SortMode

_KEPT_LISTINGS = 16


class Person(msgspec.Struct, frozen=True):
    """Whose name and address a commit bears."""

    name: str
    email: str

    @property
    def signature(self) -> pygit2.Signature:
        return pygit2.Signature(self.name, self.email)


SOMEBODY = Person("Somebody Else", "somebody@example.com")


class FileContent(msgspec.Struct, forbid_unknown_fields=True):
    """A file of a commit: its text, or its bytes in Base64."""

    content: str | None = None
    base64: str | None = None
    mode: str = "100644"

    @property
    def data(self) -> bytes:
        if self.base64 is not None:
            return base64.b64decode(self.base64)
        return (self.content or "").encode()


class Settings(msgspec.Struct):
    """What the host knows of a repository. `members` are the roles of others than its owner: read,
    write or admin. `former_paths` are its names of before; `former_branches` those of branches,
    with their names of today. `pulls` are its pull or merge requests."""

    path: str
    default_branch: str = "main"
    is_private: bool = True
    is_archived: bool = False
    protected: list[str] = []
    members: dict[str, str] = {}
    former_paths: list[str] = []
    former_branches: dict[str, str] = {}
    pulls: list[dict[str, Any]] = []
    updated_at: float = 0.0


class Entry(NamedTuple):
    """`kind` is blob, tree or commit; `size` is None for the latter two."""

    path: str
    mode: str
    kind: str
    sha: str
    size: int | None


# A file's mode and id, or None where it is deleted.
Changes = Mapping[str, tuple[int, pygit2.Oid] | None]


class Repository:
    """One repository. Its methods are called by one thread at a time, which holds `lock`."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.lock = threading.RLock()
        self.git = pygit2.Repository(str(folder))
        self._listings: OrderedDict[str, list[Entry]] = OrderedDict()

    @classmethod
    def create(cls, folder: Path, settings: Settings) -> "Repository":
        pygit2.init_repository(str(folder), bare=True, initial_head=settings.default_branch)
        made = cls(folder, settings)
        made.save()
        return made

    @classmethod
    def load(cls, folder: Path) -> "Repository":
        return cls(folder, msgspec.json.decode(_settings_file(folder).read_bytes(), type=Settings))

    @property
    def path(self) -> str:
        return self.settings.path

    @property
    def id(self) -> int:
        """It stays when the repository is renamed."""
        return zlib.crc32(self.folder.name.encode())

    @property
    def paths(self) -> tuple[str, ...]:
        """Its path of today, and those of before."""
        return self.path, *self.settings.former_paths

    def has_path(self, name: str) -> bool:
        """Is this its path of today, in any capitals?"""
        return self.path.lower() == name.lower()

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]

    @property
    def is_empty(self) -> bool:
        return not list(self.git.branches.local)

    def save(self) -> None:
        self.settings.updated_at = time.time()
        _settings_file(self.folder).write_bytes(msgspec.json.encode(self.settings))

    def delete(self) -> None:
        shutil.rmtree(self.folder)
        _settings_file(self.folder).unlink()

    def role(self, login: str) -> str | None:
        """What somebody may do: read, write, admin, or nothing."""
        if login == self.owner:
            return "admin"
        return self.settings.members.get(login) or (None if self.settings.is_private else "read")

    # --- Reading ----------------------------------------------------------------------------------

    def tip(self, branch: str) -> str | None:
        """The newest commit of a branch."""
        reference = self.git.references.get(f"refs/heads/{branch}")
        return None if reference is None else str(reference.target)

    def find_commit(self, name: str) -> pygit2.Commit | None:
        """A commit by its id or a branch."""
        sha = self.tip(name) or name
        try:
            found = self.git.get(sha) if len(sha) == 40 else None
        except ValueError:
            return None
        return found if isinstance(found, pygit2.Commit) else None

    def entries(self, tree: pygit2.Tree) -> list[Entry]:
        """Everything below a tree, folders too, sorted as Git sorts."""
        key = str(tree.id)
        if key not in self._listings:
            self._listings[key] = list(self._walk(tree, ""))
            if len(self._listings) > _KEPT_LISTINGS:
                self._listings.popitem(last=False)
        return self._listings[key]

    def _walk(self, tree: pygit2.Tree, prefix: str) -> Any:
        for item in tree:
            path = f"{prefix}{item.name}"
            mode, sha = f"{item.filemode:06o}", str(item.id)
            if item.filemode == 0o160000:
                yield Entry(path, mode, "commit", sha, None)
            elif isinstance(item, pygit2.Tree):
                yield Entry(path, mode, "tree", sha, None)
                yield from self._walk(item, f"{path}/")
            else:
                yield Entry(path, mode, "blob", sha, getattr(item, "size", None))

    def log(self, start: str, limit: int) -> list[pygit2.Commit]:
        walker = self.git.walk(start, SortMode.TOPOLOGICAL)
        return [commit for commit, _ in zip(walker, range(limit), strict=False)]

    def last_change(self, start: str, path: str) -> str | None:
        """The newest commit from `start` on that changed a path, along first parents."""
        commit = self.find_commit(start)
        while commit is not None:
            mine = _id_at(commit.tree, path)
            parent = commit.parents[0] if commit.parents else None
            if parent is None or _id_at(parent.tree, path) != mine:
                return str(commit.id) if mine is not None or parent is not None else None
            commit = parent
        return None

    def is_ancestor(self, older: str, newer: str) -> bool:
        return older == newer or self.git.descendant_of(newer, older)

    # --- Writing ----------------------------------------------------------------------------------

    def write_tree(self, base: pygit2.Tree | None, changes: Changes) -> pygit2.Oid:
        """A tree with these changes. Only the folders of changed files are built anew."""
        built = self._build(base, changes)
        return self.git.TreeBuilder().write() if built is None else built

    def _build(self, tree: pygit2.Tree | None, changes: Changes) -> pygit2.Oid | None:
        """None for a tree without files."""
        builder = self.git.TreeBuilder(tree) if tree is not None else self.git.TreeBuilder()
        below: dict[str, dict[str, tuple[int, pygit2.Oid] | None]] = {}
        for path, change in changes.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = change
            elif change is not None:
                builder.insert(name, change[1], change[0])
            elif builder.get(name) is not None:
                builder.remove(name)
        for name, inner in below.items():
            entry = builder.get(name)
            folder = self.git[entry.id] if entry is not None else None
            built = self._build(folder if isinstance(folder, pygit2.Tree) else None, inner)
            if built is not None:
                builder.insert(name, built, 0o040000)
            elif entry is not None:
                builder.remove(name)
        return builder.write() if len(builder) else None

    def write_commit(
        self,
        tree: pygit2.Oid,
        parents: list[str],
        message: str,
        author: Person = SOMEBODY,
        committer: Person | None = None,
    ) -> str:
        """A commit that belongs to no branch yet."""
        names = author.signature, (committer or author).signature
        return str(self.git.create_commit(None, *names, message, tree, parents))

    def commit_files(
        self,
        branch: str,
        files: Mapping[str, FileContent | None],
        message: str,
    ) -> str:
        """Commit to a branch, which begins at the default branch where it does not exist."""
        parent = self.tip(branch) or self.tip(self.settings.default_branch)
        commit = self.find_commit(parent) if parent is not None else None
        changes = {path: self._stored(file) for path, file in files.items()}
        tree = self.write_tree(commit.tree if commit is not None else None, changes)
        sha = self.write_commit(tree, [parent] if parent else [], message)
        self.set_branch(branch, sha)
        return sha

    def _stored(self, file: FileContent | None) -> tuple[int, pygit2.Oid] | None:
        if file is None:
            return None
        mode = int(file.mode, 8)
        if mode == 0o160000:  # the id of the other repository's commit
            return mode, pygit2.Oid(hex=file.content or "0" * 39 + "1")
        return mode, self.git.create_blob(file.data)

    def set_branch(self, branch: str, sha: str) -> None:
        self.git.references.create(f"refs/heads/{branch}", sha, force=True)
        self.save()

    def rename_branch(self, old: str, new: str) -> None:
        self.git.branches.local[old].rename(new)
        if self.settings.default_branch == old:
            self.settings.default_branch = new
            self.git.set_head(f"refs/heads/{new}")
        self.settings.former_branches[old] = new
        self.save()

    def get_blob(self, sha: str) -> bytes | None:
        try:
            found = self.git.get(sha)
        except ValueError:
            return None
        return found.data if isinstance(found, pygit2.Blob) else None


class Repositories:
    """The repositories of one host, in a folder; those of earlier processes are found again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        loaded = [Repository.load(each) for each in sorted(folder.glob("*.git"))]
        self._by_path = {each.path: each for each in loaded}

    def create(self, settings: Settings) -> Repository:
        folder = self._folder / f"{zlib.crc32(settings.path.encode()):08x}-{time.time_ns():x}.git"
        made = self._by_path[settings.path] = Repository.create(folder, settings)
        return made

    def find(self, name: str) -> Repository | None:
        """By its path, in any capitals, its number, or a path that it had before and that no other
        repository has now."""
        wanted = name.lower()
        for each in self._by_path.values():
            if each.has_path(name) or str(each.id) == name:
                return each
        for each in self._by_path.values():
            if wanted in (path.lower() for path in each.settings.former_paths):
                return each
        return None

    def rename(self, repository: Repository, path: str) -> None:
        del self._by_path[repository.path]
        repository.settings.former_paths.append(repository.path)
        repository.settings.path = path
        self._by_path[path] = repository
        repository.save()

    def delete(self, repository: Repository) -> None:
        del self._by_path[repository.path]
        repository.delete()

    def all(self) -> list[Repository]:
        """The latest changed first."""
        return sorted(self._by_path.values(), key=lambda each: -each.settings.updated_at)


def _settings_file(folder: Path) -> Path:
    return folder.with_suffix(".json")


def _id_at(tree: pygit2.Tree, path: str) -> str | None:
    try:
        return str(tree[path].id)
    except KeyError:
        return None
