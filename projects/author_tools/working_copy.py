"""The files of a repository as one author has them: those at the commit, with what completed parts
have made of them, and with what the author itself has written."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import PurePosixPath

from integrations.githosts.types import SUBMODULE, SYMLINK
from projects.file_edits import UnfitEdit, replaced, with_line_ends
from projects.outputs import MAX_FILE, MAX_FILES, Op, OutputFile
from projects.paths import fault_of
from projects.plan_files import nearest

_LINK = "{} is a symbolic link or a submodule: it can be neither read nor written from here."
_NO_TEXT = "{} is no text, or too long: it can be neither read nor written from here."
_UNREAD = "You have not read {}. Read it first, so that nothing of it gets lost."
_TAKEN = "There is a file at {} already. Choose another path, or delete that file first."


class Refused(Exception):
    """A call cannot be carried out; the text is a sentence for its author."""


class NotRead(Refused):
    """The content of a file that is there has not been read yet."""


class WorkingCopy:
    """`modes` are Git's modes of all files that the author finds, by path, and `contents` the texts
    of those that were read; None for what is no text, or too long. `seen` are those that the author
    was shown or has read, by default all of them, and `own` are files that it has written before.
    """

    def __init__(
        self,
        *,
        modes: Mapping[str, str],
        contents: Mapping[str, str | None],
        seen: Iterable[str] | None = None,
        own: Iterable[OutputFile] = (),
    ) -> None:
        self._modes = modes
        self._contents = contents
        self._seen = {*(contents if seen is None else seen)}
        self._own: dict[str, str | None] = {}  # None: deleted
        self._sources: dict[str, str] = {}
        for file in own:
            self._own[file.path] = None if file.op == "delete" else file.content
            if file.previous_path:
                self._sources[file.path] = file.previous_path

    # --- Reading ----------------------------------------------------------------------------------

    @property
    def paths(self) -> list[str]:
        """The files that are there, sorted."""
        there = self._modes.keys() | self._own.keys()
        return sorted(path for path in there if self.has(path))

    @property
    def written(self) -> dict[str, str | None]:
        """What the author has written, by path; None for what it has deleted."""
        return dict(self._own)

    @property
    def files(self) -> list[OutputFile]:
        """What the author changes, by path."""
        return [self._file(path) for path in sorted(self._own)]

    def has(self, path: str) -> bool:
        if path in self._own:
            return self._own[path] is not None
        return path in self._modes

    def is_link(self, path: str) -> bool:
        return path not in self._own and self._modes.get(path) in (SYMLINK, SUBMODULE)

    def text(self, path: str) -> str | None:
        """The content of a file, None where it is not known or no text."""
        return self._own[path] if path in self._own else self._contents.get(path)

    def is_known(self, path: str) -> bool:
        """Need the file not be read any more?"""
        return path in self._own or path in self._contents or self.is_link(path)

    def read(self, path: str) -> str:
        """The content of a file. Raises Refused."""
        self._check_there(path)
        if path not in self._own and path not in self._contents:
            raise NotRead(_UNREAD.format(path))
        text = self.text(path)
        if text is None:
            raise Refused(_NO_TEXT.format(path))
        self._seen.add(path)
        return text

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, path: str, content: str) -> None:
        """Write a whole file, with the line ends that it has. Raises Refused."""
        base = self._to_change(path) if self.has(path) else ""
        self._put(path, with_line_ends(content, base))

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a passage of a file. Raises Refused."""
        try:
            content = replaced(self._to_change(path), old, new)
        except UnfitEdit as unfit:
            raise Refused(f"{path} was not changed. {unfit}") from None
        self._put(path, content)

    def delete(self, path: str) -> None:
        """Raises Refused."""
        self._check_there(path)
        _check_path(path)
        self._remove(path)

    def move(self, path: str, new_path: str) -> None:
        """Raises Refused."""
        content = self._to_change(path)
        _check_path(path)
        if self.has(new_path):
            raise Refused(_TAKEN.format(new_path))
        source = self._sources.get(path) or path
        self._put(new_path, content)
        self._remove(path)
        if source in self._modes and source != new_path:
            self._sources[new_path] = source

    def _to_change(self, path: str) -> str:
        """The content of a file that the author has seen. Raises Refused."""
        is_seen = path in self._own or path in self._seen
        text = self.read(path)
        if not is_seen:
            self._seen.discard(path)
            raise NotRead(_UNREAD.format(path))
        return text

    def _put(self, path: str, content: str) -> None:
        self._check_place(path)
        if len(content) > MAX_FILE:
            raise Refused(f"{path} would have more than {MAX_FILE} characters.")
        if path not in self._own and len(self._own) >= MAX_FILES:
            raise Refused(f"You have changed {MAX_FILES} files, and cannot change more.")
        self._own[path] = content
        if path in self._modes and self._contents.get(path) == content:
            del self._own[path]  # it is as it was

    def _remove(self, path: str) -> None:
        self._sources.pop(path, None)
        if path in self._modes:
            self._own[path] = None
        else:
            del self._own[path]

    def _check_there(self, path: str) -> None:
        if not self.has(path):
            raise Refused(self._absent(path))
        if self.is_link(path):
            raise Refused(_LINK.format(path))

    def _check_place(self, path: str) -> None:
        """Raises Refused where no file can be at the path."""
        _check_path(path)
        if self.is_link(path):
            raise Refused(_LINK.format(path))
        for parent in PurePosixPath(path).parents:
            if self.has(str(parent)):
                raise Refused(f"{parent} is a file, so there can be no file in it.")
        if not self.has(path) and self._is_folder(path):
            raise Refused(f"{path} is a folder. Name a file in it.")

    def _file(self, path: str) -> OutputFile:
        content, source = self._own[path], self._sources.get(path, "")
        if content is None:
            return OutputFile(path, "delete", "")
        op: Op = "update" if path in self._modes else "create"
        is_moved = op == "create" and source and self._own.get(source, "") is None
        return OutputFile(path, op, content, previous_path=source if is_moved else "")

    # --- Names ------------------------------------------------------------------------------------

    def _absent(self, path: str) -> str:
        if not path:
            return "Name the path of a file."
        if self._is_folder(path):
            return f"{path} is a folder. Name a file in it: list_files shows them."
        near = nearest(path, self.paths)
        hint = f" Do you mean {', '.join(near)}?" if near else " list_files shows all of them."
        return f"There is no file {path[:400]}.{hint}"

    def _is_folder(self, path: str) -> bool:
        there = chain(self._modes, self._own)
        return any(each.startswith(f"{path}/") and self.has(each) for each in there)


def _check_path(path: str) -> None:
    """Raises Refused for a path that cannot be written."""
    if fault := fault_of(path):
        raise Refused(fault)
