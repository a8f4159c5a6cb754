"""The files of an answer, as they fit what is there."""

from collections.abc import Iterable

from msgspec.structs import replace

from githosts.types import SUBMODULE, SYMLINK
from projects.file_edits import UnfitEdit, edited
from projects.models import Run, Subtask
from projects.outputs import MAX_FILE, FileFault, OutputFile
from projects.selectors.sources import current_contents

_UNSEEN = (
    "The repository has this file, and its content was not read. Name it in what the subtask reads."
)
_MISSING = "There is no such file to be edited."
_NO_TEXT = "The repository's file is no text, or too long: it cannot be written from here."
_LINK = "This is a symbolic link or a submodule of the repository: it cannot be written from here."
_TOO_LONG = f"The file has more than {MAX_FILE} characters after its edits."


def fit(subtask: Subtask, files: Iterable[OutputFile]) -> tuple[list[OutputFile], list[FileFault]]:
    """The files with their whole contents, and the faults of those that cannot be used. Edits are
    of the file as other subtasks or the repository have it. What replaces a file of the repository
    has its line ends; nobody overwrites what nobody has read."""
    files = [*files]
    contents = current_contents(subtask, [file.path for file in files])
    fitting: list[OutputFile] = []
    faults: list[FileFault] = []
    for file in files:
        fault = _fault_of_place(subtask.run, file, contents)
        if fault is None:
            try:
                fitting.append(_whole(subtask.run, file, contents))
                continue
            except UnfitEdit as unfit:
                fault = str(unfit)
        faults.append(FileFault(file.path, fault))
    return fitting, faults


def _fault_of_place(run: Run, file: OutputFile, contents: dict[str, str | None]) -> str | None:
    """Why a file cannot be written at its path."""
    entry = run.checkout.entries.get(file.path) if run.checkout is not None else None
    if entry is not None and entry.mode in (SYMLINK, SUBMODULE):
        return _LINK
    if file.op == "delete" or contents.get(file.path) is not None:
        return None
    if file.path in contents:
        return _NO_TEXT
    if entry is not None:
        return _UNSEEN
    return _MISSING if file.edits else None


def _whole(run: Run, file: OutputFile, contents: dict[str, str | None]) -> OutputFile:
    """Raises UnfitEdit."""
    base = contents.get(file.path) or ""
    if file.edits:
        content = edited(base, file.edits)
        if len(content) > MAX_FILE:
            raise UnfitEdit(_TOO_LONG)
        return OutputFile(file.path, "update", content)
    return _with_line_ends(file, base) if run.checkout is not None else file


def _with_line_ends(file: OutputFile, base: str) -> OutputFile:
    """The file with the line ends of `base`, and a last line end where that has one: models write
    neither."""
    if file.op == "delete" or not file.content:
        return file
    lines = file.content.replace("\r\n", "\n").rstrip("\n").split("\n")
    ends_with_one = base.endswith("\n") or not base
    end = "\r\n" if "\r\n" in base and "\n" not in base.replace("\r\n", "") else "\n"
    return replace(file, content=end.join(lines) + (end if ends_with_one else ""))
