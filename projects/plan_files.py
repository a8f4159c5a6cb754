"""The files that the parts of a plan read and write: which of them there are, or will be."""

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import PurePosixPath

from projects.paths import fault_of

# Names that one is compared with, and those that are offered.
_MAX_COMPARED = 2_000
_MAX_OFFERED = 3


def faults_of_files(
    key: str,
    *,
    reads: Iterable[str],
    writes: Iterable[str],
    others: Collection[str],
    files: Collection[str] | None,
) -> Iterator[str]:
    """What is wrong with the files of a subtask, in sentences. `files` are the paths that there are
    before the work begins, None where it does not matter what it reads, and `others` those that
    other subtasks write."""
    for path in writes:
        if fault := fault_of(path):
            yield f'Subtask "{key}" cannot write "{path[:80]}". {fault}'
    if files is None:
        return
    for path in reads:
        if path not in files and path not in others:
            yield _unknown(key, path, files)


def nearest(path: str, files: Collection[str]) -> list[str]:
    """The paths that somebody may have meant who wrote this one: files of the same name elsewhere,
    files in it where it is a folder, or files whose names resemble it."""
    name = PurePosixPath(path).name.casefold()
    folder = f"{path.strip('/')}/"
    by_name: dict[str, list[str]] = {}
    for each in sorted(files):
        by_name.setdefault(PurePosixPath(each).name.casefold(), []).append(each)
    if name in by_name:
        return by_name[name][:_MAX_OFFERED]
    if inside := [each for each in sorted(files) if each.startswith(folder)]:
        return inside[:_MAX_OFFERED]
    alike = [each for each in by_name if each[:1] == name[:1]][:_MAX_COMPARED]
    matches = get_close_matches(name, alike, n=_MAX_OFFERED)
    return [each for match in matches for each in by_name[match]][:_MAX_OFFERED]


def _unknown(key: str, path: str, files: Collection[str]) -> str:
    names = " or ".join(f'"{each[:80]}"' for each in nearest(path, files))
    meant = f" Is it {names}?" if names else ""
    return (
        f'Subtask "{key}" reads "{path[:80]}", which is not there, and which no other subtask '
        f"writes.{meant}"
    )
