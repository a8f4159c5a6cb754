"""The working copy of a subtask's author, and what its calls need of the repository."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from django.db.models import Q

from ai.catalog.types import Model
from integrations.githosts.types import FILE, Entry
from projects.author_tools.arguments import (
    Arguments,
    BadArguments,
    ReadFile,
    Search,
    path_of,
    paths_named,
    read_arguments,
)
from projects.author_tools.calls import StoredCall
from projects.author_tools.listing import below
from projects.author_tools.searching import searchable
from projects.author_tools.working_copy import WorkingCopy
from projects.models import Attempt, Run, Subtask
from projects.outputs import Op, OutputFile
from projects.selectors.sources import (
    current_contents,
    source_paths,
    unread_paths,
    written_by_others,
)

# Files that are read of the host for one search, and their bytes; files that are read in all before
# searches read no more; and bytes that one search looks at.
MAX_SEARCHED: Final = 200
MAX_SEARCHED_BYTES: Final = 2_000_000
MAX_READ: Final = 2_000
MAX_LOADED_BYTES: Final = 8_000_000
# What a file is taken to have whose host does not say it.
_TYPICAL_BYTES = 10_000


def uses_tools(run: Run, model: Model | None) -> bool:
    """Do authors of this model work on the run's repository by calls of functions?"""
    return run.checkout_id is not None and model is not None and model.tools


def working_copy_of(
    attempt: Attempt,
    subtask: Subtask,
    calls: Sequence[StoredCall],
    *,
    before: Iterable[StoredCall] = (),
) -> WorkingCopy:
    """The files as the author of an attempt has them, with the contents that these calls need, as
    far as they were read. `before` are the calls that it has made before: what it was shown then,
    it has seen."""
    checkout = subtask.run.checkout
    assert checkout is not None  # noqa: S101 - authors with tools work on a repository
    modes = {path: entry.mode for path, entry in checkout.entries.items()}
    seen = {*source_paths(subtask), *_paths_read(before)}
    for path, op in written_by_others(subtask).values_list("path", "op"):
        if op == "delete":
            modes.pop(path, None)
        else:
            modes[path] = FILE
            seen.add(path)
    own = [
        _file(*row) for row in attempt.files.values_list("path", "op", "content", "previous_path")
    ]
    paths = {file.path for file in own}
    for call in _readable(calls):
        paths.update(paths_named(call))
        if isinstance(call, Search):
            paths.update(_loaded(subtask, path_of(call.path)))
    contents = current_contents(subtask, paths)
    return WorkingCopy(modes=modes, contents=contents, seen=seen, own=own)


def unread_by_calls(run: Run, calls: Sequence[StoredCall]) -> list[str]:
    """The files of the repository that have to be read before these calls are carried out."""
    checkout = run.checkout
    if checkout is None or not calls:
        return []
    wanted = []
    room = max(0, MAX_READ - checkout.files.count())
    for call in _readable(calls):
        match call:
            case ReadFile(path):
                wanted.append(path_of(path))
            case Search(_, path):
                wanted += unread_paths(run, _scope(checkout.entries, path_of(path)))[:room]
    return unread_paths(run, wanted)


def _paths_read(calls: Iterable[StoredCall]) -> Iterator[str]:
    for call in _readable(call for call in calls if call.result is not None and call.result.ok):
        if isinstance(call, ReadFile):
            yield path_of(call.path)


def _readable(calls: Iterable[StoredCall]) -> Iterator[Arguments]:
    for call in calls:
        try:
            yield read_arguments(call.name, call.arguments)
        except BadArguments:
            continue


def _scope(entries: Mapping[str, Entry], folder: str) -> list[str]:
    """The files that a search in the folder reads."""
    scope, left = [], MAX_SEARCHED_BYTES
    for path in islice(searchable(below([*entries], folder), folder), MAX_SEARCHED):
        size = entries[path].size
        left -= _TYPICAL_BYTES if size is None else size
        if left >= 0:
            scope.append(path)
    return scope


def _loaded(subtask: Subtask, folder: str) -> list[str]:
    """The files that a search in the folder looks at, of those that were read or written."""
    inside = Q(path=folder) | Q(path__startswith=f"{folder}/") if folder else Q()
    checkout = subtask.run.checkout
    assert checkout is not None  # noqa: S101 - authors with tools work on a repository
    rows = [
        *written_by_others(subtask).filter(inside).values_list("path", "size"),
        *checkout.files.filter(inside).order_by("path").values_list("path", "size"),
    ]
    loaded, left = [], MAX_LOADED_BYTES
    for path, size in rows:
        left -= size
        if left >= 0:
            loaded.append(path)
    return loaded


def _file(path: str, op: str, content: str, previous_path: str) -> OutputFile:
    word: Op = "delete" if op == "delete" else "update"
    return OutputFile(path, word, content, previous_path=previous_path)
