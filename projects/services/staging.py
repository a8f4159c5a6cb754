"""The files of an answer, as they fit the repository of the run."""

from collections.abc import Iterable

from msgspec.structs import replace

from githosts.types import SUBMODULE, SYMLINK
from projects.models import Run
from projects.outputs import FileFault, OutputFile

_UNSEEN = (
    "The repository has this file, and its content was not read. Name it in what the subtask reads."
)
_NO_TEXT = "The repository's file is no text, or too long: it cannot be written from here."
_LINK = "This is a symbolic link or a submodule of the repository: it cannot be written from here."


def fit_to_repository(
    run: Run, files: Iterable[OutputFile]
) -> tuple[list[OutputFile], list[FileFault]]:
    """The files with the line ends of those that they replace, and the faults of those that cannot
    be used: nobody overwrites what nobody has read. Without a repository all are as they were."""
    if run.checkout is None:
        return [*files], []
    entries = run.checkout.entries
    files = [*files]
    rows = run.checkout.files.filter(path__in=[file.path for file in files])
    contents: dict[str, str | None] = dict(rows.values_list("path", "content"))
    fitting: list[OutputFile] = []
    faults: list[FileFault] = []
    for file in files:
        entry = entries.get(file.path)
        if entry is None:
            fitting.append(_with_line_ends(file, "\n"))
        elif entry.mode in (SYMLINK, SUBMODULE):
            faults.append(FileFault(file.path, _LINK))
        elif file.op == "delete":
            fitting.append(file)
        elif (base := contents.get(file.path)) is not None:
            fitting.append(_with_line_ends(file, base))
        else:
            message = _NO_TEXT if file.path in contents else _UNSEEN
            faults.append(FileFault(file.path, message))
    return fitting, faults


def _with_line_ends(file: OutputFile, base: str) -> OutputFile:
    """The file with the line ends of `base`, and a last line end where that has one: models write
    neither."""
    if file.op == "delete" or not file.content:
        return file
    lines = file.content.replace("\r\n", "\n").rstrip("\n").split("\n")
    ends_with_one = base.endswith("\n") or not base
    end = "\r\n" if "\r\n" in base and "\n" not in base.replace("\r\n", "") else "\n"
    return replace(file, content=end.join(lines) + (end if ends_with_one else ""))
