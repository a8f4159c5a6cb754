"""The staged changes of a run: what its files would change in the repository."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from pygit2 import Patch

from accounts.models import User
from common.consistent_reads import consistent_reads
from integrations.githosts.types import Op
from integrations.workspaces.changes import StagedChange, blob_id
from projects.ci_files import runs_ci
from projects.models import Apply, AttemptFile, Run
from projects.selectors.files import proposal_of, staged_rows
from projects.selectors.lookup import get_run
from projects.types import ChangesState


class Change(Struct, frozen=True, kw_only=True):
    """A staged file. `op` says what it means for the repository; `base_sha` is the id of the file
    that it replaces; `diff` is None where the content of that file is not known. `previous_path` is
    that of a moved file. `runs_ci`: a CI service runs it, or has run it where it was moved from.
    `file_ids` are the rows of the path in the results of all subtasks, of
    which the last one counts."""

    path: str
    op: str
    previous_path: str | None
    content: str
    base_sha: str | None
    size: int
    subtask_id: UUID
    diff: str | None
    runs_ci: bool
    file_ids: tuple[UUID, ...]


class Changes(Struct, frozen=True, kw_only=True):
    """The staged changes of a run; `applied` is the latest order to write some."""

    state: ChangesState
    files: list[Change]
    proposal: dict[str, str]
    applied: Apply | None


class _Written(Struct, frozen=True):
    """What was written from here: the contents by path, and the paths whose files were deleted or
    moved away by the latest order for them."""

    contents: Mapping[str, Collection[str]]
    gone: frozenset[str]


def get_changes(user: User, run_id: UUID) -> Changes:
    """Those of the user's run, at one moment. Raises NotFound."""
    with consistent_reads():
        run = get_run(user, run_id)
        files, applied = changes_of(run), run.applies.order_by("id").last()
        return Changes(
            state=_state_of(run, files, applied),
            files=files,
            proposal=proposal_of(run),
            applied=applied,
        )


def changes_of(run: Run) -> list[Change]:
    """The staged files of a run, by path. Of two subtasks that write one path, the later in
    topological order counts."""
    by_path: dict[str, list[AttemptFile]] = {}
    for row in staged_rows(run).filter(applied_at=None):
        by_path.setdefault(row.path, []).append(row)
    written = _written(run)
    entries = run.checkout.entries if run.checkout is not None else {}
    known = entries.keys() | written.contents.keys()
    bases = {**_base_contents(run, by_path), **dict.fromkeys(written.gone, "")}
    moved = _moves(by_path, known - written.gone)
    changes = []
    for path, rows in sorted(by_path.items()):
        last = rows[-1]
        if path in moved.values() or (last.op == "delete" and path not in known):
            continue  # a part of a move; or one subtask created it, and a later one deletes it
        source = moved.get(path, path)
        entry = entries.get(source) if source not in written.gone else None
        file_ids = [row.pk for row in rows]
        file_ids += [row.pk for row in by_path[source]] if source != path else []
        changes.append(
            Change(
                path=path,
                op="move"
                if source != path
                else _op_of(last, is_there=path in known - written.gone),
                previous_path=source if source != path else None,
                content=last.content,
                base_sha=entry.sha if entry is not None else None,
                size=last.size,
                subtask_id=last.attempt.subtask_id,
                diff=_diff(source, bases.get(source, "" if entry is None else None), last),
                runs_ci=runs_ci(path, source),
                file_ids=tuple(file_ids),
            )
        )
    return changes


def _moves(by_path: Mapping[str, Sequence[AttemptFile]], known: Collection[str]) -> dict[str, str]:
    """The files that are moved within the repository: their paths, and those until now."""
    found = {}
    for path, rows in by_path.items():
        source = rows[-1].previous_path
        is_gone = source in by_path and by_path[source][-1].op == "delete"
        if is_gone and source in known and path not in known:
            found[path] = source
    return found


def status_of(order: Apply) -> str:
    """What became of an order: `applying`, `applied` (nothing is left of it), `partial`,
    `failed`."""
    if order.ended_at is None:
        return "applying"
    if all(file["status"] != "failed" for file in order.files):
        return "applied"
    return "partial" if order.commit else "failed"


def to_write(run: Run, changes: Iterable[Change]) -> tuple[StagedChange, ...]:
    """The changes as they are checked against the repository. What was written from here before
    may be replaced."""
    entries = run.checkout.entries if run.checkout is not None else {}
    written = _written(run)

    def seen(path: str) -> frozenset[str]:
        own = {blob_id(content) for content in written.contents.get(path, ())}
        return frozenset(own | ({entries[path].sha} if path in entries else set()))

    return tuple(
        StagedChange(
            path=change.path,
            op=_op_to_write(change),
            seen=seen(change.previous_path or change.path),
            content=None if change.op == "delete" else change.content,
            previous_path=change.previous_path,
        )
        for change in changes
    )


def _op_to_write(change: Change) -> Op:
    if change.op == "delete":
        return "delete"
    if change.op == "move":
        return "move"
    return "update" if change.base_sha else "create"


def _written(run: Run) -> _Written:
    rows = AttemptFile.objects.filter(attempt__subtask__run=run).exclude(applied_at=None)
    contents: dict[str, set[str]] = {}
    gone: dict[str, bool] = {}
    in_order = rows.order_by("applied_at", "attempt__subtask__position", "id")
    for path, op, content in in_order.values_list("path", "op", "content"):
        gone[path] = op == "delete"
        contents.setdefault(path, set()).update([] if gone[path] else [content])
    return _Written(contents, frozenset(path for path, is_gone in gone.items() if is_gone))


def _base_contents(run: Run, paths: Iterable[str]) -> dict[str, str | None]:
    """The files of the repository at these paths, as far as they were read."""
    if run.checkout is None:
        return {}
    rows = run.checkout.files.filter(path__in=list(paths))
    return dict(rows.values_list("path", "content"))


def _op_of(file: AttemptFile, *, is_there: bool) -> str:
    if file.op == "delete":
        return "delete"
    return "update" if is_there else "create"


def _diff(source: str, base: str | None, file: AttemptFile) -> str | None:
    """The difference in Git's unified form; None where the base is not known."""
    if base is None:
        return None
    patch: Any = Patch.create_from(
        base.encode(),
        file.content.encode(),
        old_as_path=source,
        new_as_path=file.path,
        context_lines=3,
    )
    return str(patch.text) if patch is not None else ""


def _state_of(run: Run, files: list[Change], applied: Apply | None) -> ChangesState:
    if applied is not None and applied.ended_at is None:
        return ChangesState.APPLYING
    rows = AttemptFile.objects.filter(attempt__subtask__run=run)
    written = set(rows.exclude(applied_at=None).values_list("path", flat=True))
    current = rows.filter(attempt__current_of__run=run).exclude(discarded_at=None)
    discarded = set(current.values_list("path", flat=True)) - written
    if written:
        is_all = not files and not discarded
        return ChangesState.APPLIED if is_all else ChangesState.PARTIALLY_APPLIED
    if files:
        return ChangesState.STAGED
    return ChangesState.DISCARDED if discarded else ChangesState.EMPTY
