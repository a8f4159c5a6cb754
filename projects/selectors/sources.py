"""The files of a run's repository that a subtask is about."""

from collections.abc import Sequence

from projects.models import AttemptFile, Run, Subtask
from projects.types import SubtaskStatus


def source_paths(subtask: Subtask) -> list[str]:
    """The paths that the author of a subtask is shown: what it reads, and what it writes."""
    return [*dict.fromkeys([*subtask.reads, *subtask.writes])]


def sources_of(run: Run, subtask: Subtask) -> dict[str, str | None]:
    """Those files, by path: as completed subtasks have left them, or else as they are in the
    repository. None where one is no text or too long; files that are not there are left out."""
    if run.checkout is None:
        return {}
    paths = source_paths(subtask)
    rows = run.checkout.files.filter(path__in=paths)
    contents: dict[str, str | None] = dict(rows.values_list("path", "content"))
    for path, op, content in _written(run, subtask, paths):
        if op == "delete":
            contents.pop(path, None)
        else:
            contents[path] = content
    return {path: contents[path] for path in paths if path in contents}


def _written(run: Run, subtask: Subtask, paths: Sequence[str]) -> list[tuple[str, str, str]]:
    """What the results of other subtasks write there: path, operation and content, in topological
    order. Dependencies bring theirs with their results."""
    done = [
        row.current_id
        for row in run.rows.subtasks.values()
        if row.status == SubtaskStatus.COMPLETED
        and row.pk != subtask.pk
        and row.key not in subtask.depends_on
    ]
    files = AttemptFile.objects.filter(attempt__in=done, path__in=paths)
    ordered = files.order_by("attempt__subtask__position")
    return [*ordered.values_list("path", "op", "content")]
