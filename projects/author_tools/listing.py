"""What `list_files` answers."""

import re
from collections import Counter
from fnmatch import translate
from pathlib import PurePosixPath

from integrations.workspaces.filetypes import is_generated_folder
from projects.author_tools.arguments import ListFiles, path_of
from projects.author_tools.results import Carried, cut_lines
from projects.author_tools.working_copy import Refused, WorkingCopy

# Files of a list that is not shown by its folders.
_MAX_LISTED = 400


def list_files(copy: WorkingCopy, call: ListFiles) -> Carried:
    """The files in a folder, or those that match a pattern. Raises Refused."""
    folder = path_of(call.path)
    paths = below(copy.paths, folder)
    if not paths:
        raise Refused(f"There is no folder {folder}. Leave out the path to see the top.")
    if call.pattern.strip():
        paths = _matching(paths, call.pattern.strip())
        lines = [_named(copy, path) for path in paths]
    elif len(paths) > _MAX_LISTED:
        lines = _by_folder(copy, paths, folder)
    else:
        lines = [line for path in paths for line in [_named(copy, path)]]
    count = f"{len(paths):,} file{'' if len(paths) == 1 else 's'}"
    head = f"{count}{f' in {folder}' if folder else ''}:" if paths else "No file matches."
    return Carried(True, cut_lines([head, *lines], "Name a folder, or a pattern."), count)


def below(paths: list[str], folder: str) -> list[str]:
    """Those of the paths that are in a folder, or are it."""
    if not folder:
        return paths
    return [path for path in paths if path == folder or path.startswith(f"{folder}/")]


def _matching(paths: list[str], pattern: str) -> list[str]:
    fits = re.compile(translate(path_of(pattern))).match
    return [path for path in paths if fits(path) or fits(PurePosixPath(path).name)]


def _by_folder(copy: WorkingCopy, paths: list[str], folder: str) -> list[str]:
    """The files of the folder itself, and the folders in it with the number of their files."""
    prefix = f"{folder}/" if folder else ""
    counts = Counter(path.removeprefix(prefix).partition("/")[0] for path in paths)
    direct = {path for path in paths if "/" not in path.removeprefix(prefix)}
    lines = []
    for name, count in sorted(counts.items()):
        if prefix + name in direct:
            lines.append(_named(copy, prefix + name))
        else:
            note = ", generated" if is_generated_folder(name) else ""
            lines.append(f"{prefix}{name}/ ({count:,} file{'' if count == 1 else 's'}{note})")
    return lines


def _named(copy: WorkingCopy, path: str) -> str:
    """A file, and what its author has to know of it."""
    if copy.is_link(path):
        return f"{path} (a link or a submodule)"
    return f"{path} (yours)" if path in copy.written else path
