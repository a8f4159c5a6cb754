"""The files of an answer, as they fit what is there."""

from collections.abc import Collection

from msgspec.structs import replace

from integrations.githosts.types import SUBMODULE, SYMLINK
from integrations.workspaces.merging import is_marked
from projects.file_edits import UnfitEdit, edited, with_line_ends
from projects.models import Run, Step, Subtask
from projects.outputs import MAX_FILE, FileFault, Op, Output, OutputFile
from projects.selectors.sources import shown_contents

_UNSEEN = (
    "The repository has this file, and its content was not read. Name it in what the subtask reads."
)
_MISSING = "There is no such file to be edited."
_NO_TEXT = "The repository's file is no text, or too long: it cannot be written from here."
_LINK = "This is a symbolic link or a submodule of the repository: it cannot be written from here."
_TAKEN = "There is a file at the path that it is moved to."
_MISSING_OF_PLAN = "The task names this file, and the answer does not have it. Write it."
_UNFENCED = "A code fence around the whole file was taken off."
_MARKED = "Conflict markers are left in the file."
_TOO_LONG = f"The file has more than {MAX_FILE} characters after its edits."


def read_work(step: Step, answer: Output) -> tuple[Output, list[OutputFile], list[FileFault]]:
    """The answer of an author, and its files as they fit what is there, with the faults of all that
    do not. The step has a subtask."""
    subtask, attempt = step.subtask, step.attempt
    assert subtask is not None and attempt is not None  # noqa: S101, PT018 - work has both
    written = {*attempt.files.values_list("path", flat=True)}
    return answer, *fit(subtask, answer, written=written)


def fit(
    subtask: Subtask, answer: Output, *, written: Collection[str] = ()
) -> tuple[list[OutputFile], list[FileFault]]:
    """The files of an answer with their whole contents, and the faults of all that cannot be used
    or did not come. Edits are of the file as other subtasks or the repository have it. What
    replaces a file of the repository has its line ends; nobody overwrites what nobody has read. A
    file that is moved is deleted where it was, unless the answer has another file for that path.
    `written` are the paths of files that its author has written otherwise."""
    paths = {path for file in answer.files for path in (file.path, file.previous_path) if path}
    fitting = _Fitting(subtask.run, shown_contents(subtask, paths))
    for file in answer.files:
        fitting.add(file)
    places = {file.path for file in fitting.files}
    gone = {file.previous_path for file in fitting.files if file.previous_path} - places
    files = [*fitting.files, *(OutputFile(path, "delete", "") for path in sorted(gone))]
    faults = [*answer.faults, *fitting.faults]
    known = {file.path for file in files} | {fault.path for fault in faults} | {*written}
    missing = [path for path in subtask.writes if path not in known]
    faults += [FileFault(path, _MISSING_OF_PLAN) for path in missing]
    unfenced = [file.path for file in files if file.is_unfenced]
    return files, [*faults, *(FileFault(path, _UNFENCED, mended=True) for path in unfenced)]


class _Fitting:
    """`contents` are the files as they are for the author, None for what is no text."""

    def __init__(self, run: Run, contents: dict[str, str | None]) -> None:
        self.files: list[OutputFile] = []
        self.faults: list[FileFault] = []
        self._entries = run.checkout.entries if run.checkout is not None else {}
        self._has_repository = run.checkout is not None
        self._contents = contents

    def add(self, file: OutputFile) -> None:
        source = file.previous_path or file.path
        fault = self._fault_of_source(file, source)
        if fault is not None:
            self.faults.append(FileFault(source, fault))
        elif file.previous_path and (file.path in self._entries or file.path in self._contents):
            self.faults.append(FileFault(file.path, _TAKEN))
        elif is_marked(file.content):
            self.faults.append(FileFault(file.path, _MARKED))
        else:
            try:
                self.files.append(self._whole(file, self._contents.get(source) or ""))
            except UnfitEdit as unfit:
                self.faults.append(FileFault(file.path, str(unfit)))

    def _fault_of_source(self, file: OutputFile, path: str) -> str | None:
        """Why the file at `path` cannot be replaced, deleted or moved."""
        entry = self._entries.get(path)
        if entry is not None and entry.mode in (SYMLINK, SUBMODULE):
            return _LINK
        if file.op == "delete" or self._contents.get(path) is not None:
            return None
        if path in self._contents:
            return _NO_TEXT
        if entry is not None:
            return _UNSEEN
        return _MISSING if file.edits or file.previous_path else None

    def _whole(self, file: OutputFile, base: str) -> OutputFile:
        """Raises UnfitEdit."""
        if file.edits:
            content = edited(base, file.edits)
            if len(content) > MAX_FILE:
                raise UnfitEdit(_TOO_LONG)
            if is_marked(content):
                raise UnfitEdit(_MARKED)
            op: Op = "create" if file.previous_path else "update"
            return replace(file, op=op, content=content, edits=())
        if file.previous_path and not file.content.strip():
            return replace(file, content=base)
        if file.op == "delete" or not self._has_repository:
            return file
        return replace(file, content=with_line_ends(file.content, base))
