"""The staged files of a run: what each means for its repository, without their contents."""

from collections.abc import Collection, Mapping, Sequence

from django.db.models import QuerySet
from msgspec import Struct

from integrations.githosts.types import Op
from projects.models import AttemptFile, Run
from projects.types import SubtaskStatus


class Staged(Struct, frozen=True, kw_only=True):
    """A staged file. `op` says what it means for the repository; `previous_path` is that of a moved
    file. `rows` are those of the path in the results of all subtasks, of which the last one counts,
    and `source_rows` those of `previous_path`."""

    path: str
    op: Op
    previous_path: str | None
    rows: Sequence[AttemptFile]
    source_rows: Sequence[AttemptFile]

    @property
    def source(self) -> str:
        """Where the file is that this one replaces."""
        return self.previous_path or self.path


def staged_rows(run: Run) -> QuerySet[AttemptFile]:
    """The files of completed subtasks that were not discarded, in the topological order of these;
    each with its attempt, and without its content."""
    rows = AttemptFile.objects.filter(
        attempt__current_of__run=run,
        attempt__current_of__status=SubtaskStatus.COMPLETED,
        discarded_at=None,
    )
    return rows.select_related("attempt").defer("content").order_by("attempt__subtask__position")


def staged_of(run: Run) -> list[Staged]:
    """The staged files, by path. Of two subtasks that write one path, the later in topological
    order counts."""
    by_path: dict[str, list[AttemptFile]] = {}
    for row in staged_rows(run).filter(applied_at=None):
        by_path.setdefault(row.path, []).append(row)
    there = _paths_there(run)
    moved = _moves(by_path, there)
    staged = []
    for path, rows in sorted(by_path.items()):
        if path in moved.values() or (rows[-1].op == "delete" and path not in there):
            continue  # a part of a move; or one subtask created it, and a later one deletes it
        source = moved.get(path)
        staged.append(
            Staged(
                path=path,
                op="move" if source is not None else _op_of(rows[-1], is_there=path in there),
                previous_path=source,
                rows=rows,
                source_rows=by_path[source] if source is not None else (),
            )
        )
    return staged


def ops_of(run: Run) -> dict[str, Op]:
    """What the files that are not written yet mean for the repository, by path."""
    return {each.path: each.op for each in staged_of(run)}


def _paths_there(run: Run) -> Collection[str]:
    """The paths of the repository, as far as the run knows: at its commit, and since it has
    written."""
    entries = run.checkout.entries if run.checkout is not None else {}
    written = AttemptFile.objects.filter(attempt__subtask__run=run).exclude(applied_at=None)
    in_order = written.order_by("applied_at", "attempt__subtask__position", "id")
    is_written = {path: op != "delete" for path, op in in_order.values_list("path", "op")}
    gone = {path for path, is_there in is_written.items() if not is_there}
    return (entries.keys() | is_written.keys()) - gone


def _moves(by_path: Mapping[str, Sequence[AttemptFile]], there: Collection[str]) -> dict[str, str]:
    """The files that are moved within the repository: their paths, and those until now."""
    found = {}
    for path, rows in by_path.items():
        source = rows[-1].previous_path
        is_gone = source in by_path and by_path[source][-1].op == "delete"
        if is_gone and source in there and path not in there:
            found[path] = source
    return found


def _op_of(file: AttemptFile, *, is_there: bool) -> Op:
    if file.op == "delete":
        return "delete"
    return "update" if is_there else "create"
