"""The files of this repository, as an author would write them."""

from devserver.paths import ROOT
from projects.checks.checking import Written, faults_of
from projects.checks.kinds import kind_of
from projects.outputs import FileFault


def faults_of_our_own(*, every: int) -> list[FileFault]:
    """The faults of each so many-th file of this repository."""
    folders = [each for each in ROOT.iterdir() if each.is_dir() and not _is_left_out(each.name)]
    found = [*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    paths = [each.relative_to(ROOT).as_posix() for each in found if each.is_file()]
    paths = [path for path in paths if not any(map(_is_left_out, path.split("/")))]
    checked = sorted(path for path in paths if kind_of(path) is not None)[::every]
    files = [Written(path, (ROOT / path).read_text()) for path in checked]
    return [
        fault
        for start in range(0, len(files), 100)
        for fault in faults_of(files[start : start + 100], paths)
    ]


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name in ("var", "node_modules")
