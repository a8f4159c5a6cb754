"""The files of a run's repository that a subtask is about."""

from collections.abc import Collection

from django.db.models import QuerySet

from integrations.githosts.types import SUBMODULE, SYMLINK
from projects.models import AttemptFile, Run, Step, Subtask
from projects.selectors.conflicts import conflicts_of
from projects.types import StepKind, SubtaskStatus


def nameable_files(run: Run) -> frozenset[str]:
    """The paths that a plan may say that a subtask reads, whatever other subtasks write: those of
    the repository and the names of uploads."""
    entries = run.checkout.entries if run.checkout is not None else {}
    return frozenset([*entries, *run.uploads.values_list("upload__name", flat=True)])


def source_paths(subtask: Subtask) -> list[str]:
    """The paths that the author of a subtask is shown: what it reads, and what it writes."""
    return [*dict.fromkeys([*subtask.reads, *subtask.writes])]


def lacks_sources(step: Step) -> bool:
    """Whether the model of a step is to be shown what nobody has read of the repository yet: its
    files, or for a planner what they define."""
    checkout = step.run.checkout
    if checkout is None:
        return False
    if step.kind == StepKind.PLAN:
        return not checkout.has_symbols
    if step.kind != StepKind.WORK or step.subtask is None:
        return False
    return bool(unread_paths(step.run, source_paths(step.subtask)))


def unread_paths(run: Run, paths: Collection[str]) -> list[str]:
    """Those of the paths that are files of the repository, and that nobody has read yet."""
    checkout = run.checkout
    if checkout is None:
        return []
    known = set(checkout.files.filter(path__in=paths).values_list("path", flat=True))
    return [
        path
        for path in paths
        if path in checkout.entries
        and path not in known
        and checkout.entries[path].mode not in (SYMLINK, SUBMODULE)
    ]


def sources_of(subtask: Subtask) -> dict[str, str | None]:
    """Those files, by path: as completed subtasks have left them, or else as they are in the
    repository. None where one is no text or too long; files that are not there are left out, and
    those that dependencies bring with their results."""
    if subtask.run.checkout is None:
        return {}
    paths = source_paths(subtask)
    contents = current_contents(subtask, paths, with_dependencies=False)
    return {path: contents[path] for path in paths if path in contents}


def current_contents(
    subtask: Subtask,
    paths: Collection[str],
    *,
    of_repository: Collection[str] | None = None,
    with_dependencies: bool = True,
) -> dict[str, str | None]:
    """The files at these paths as they are for the author of a subtask: as the results of others
    have left them, or else as they were read of the repository, by default all of them. One that
    somebody else has changed has both sides, between conflict markers."""
    contents: dict[str, str | None] = {}
    if subtask.run.checkout is not None:
        wanted = paths if of_repository is None else of_repository
        read = subtask.run.checkout.files.filter(path__in=wanted)
        contents = dict(read.values_list("path", "content"))
    written = written_by_others(subtask, with_dependencies=with_dependencies)
    rows = written.filter(path__in=paths).values_list("path", "op", "content")
    for path, op, content in rows:
        if op == "delete":
            contents.pop(path, None)
        else:
            contents[path] = content
    marked = {path: each.text for path, each in conflicts_of(subtask).items() if path in paths}
    return contents | marked


def shown_contents(subtask: Subtask, paths: Collection[str]) -> dict[str, str | None]:
    """The same of the files that the author has seen: of those of the repository, what it was to be
    shown, whoever else has read others."""
    shown = set(source_paths(subtask))
    return current_contents(subtask, paths, of_repository=shown.intersection(paths))


def written_by_others(subtask: Subtask, *, with_dependencies: bool = True) -> QuerySet[AttemptFile]:
    """The files that the results of other subtasks write, in topological order."""
    done = [
        row.current_id
        for row in subtask.run.rows.subtasks.values()
        if row.status == SubtaskStatus.COMPLETED
        and row.pk != subtask.pk
        and (with_dependencies or row.key not in subtask.depends_on)
    ]
    files = AttemptFile.objects.filter(attempt__in=done, discarded_at=None)
    return files.order_by("attempt__subtask__position")
