"""The staged changes of a run: what its files would change in the repository."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from msgspec import Struct

from accounts.models import User
from common.consistent_reads import consistent_reads
from integrations.githosts.types import FILE, Op
from integrations.workspaces.changes import StagedChange
from projects.ci_files import runs_ci
from projects.models import Apply, AttemptFile, FileMerge, Run
from projects.patches import patch_of
from projects.selectors.bases import Base, Bases
from projects.selectors.files import proposal_of
from projects.selectors.lookup import get_run
from projects.selectors.staged import Staged, staged_of
from projects.types import ChangesState, MergeState


class Conflict(Struct, frozen=True):
    """What somebody else has made of a staged file on `branch`: `base_sha` is the id of their
    version, None where it is gone. `content` has both sides between conflict markers, or their text
    where the file is to be deleted; None where there is no text."""

    branch: str
    base_sha: str | None
    content: str | None


class Change(Struct, frozen=True, kw_only=True):
    """A staged file. `op` says what it means for the repository; `base_sha` is the id of the file
    that it was made from and replaces; `diff` is None where the content of that file is not known.
    `previous_path` is that of a moved file. `runs_ci`: a CI service runs it, or has run it where it
    was moved from. `conflict`: the latest order could not write it beside what somebody else has
    changed. `file_ids` are the rows of the path in the results of all subtasks, of which the first
    one counts."""

    path: str
    op: Op
    previous_path: str | None
    content: str
    base_sha: str | None
    size: int
    subtask_id: UUID
    diff: str | None
    runs_ci: bool
    conflict: Conflict | None
    file_ids: tuple[UUID, ...]


class MergedFile(Struct, frozen=True, kw_only=True):
    """What was written in the place of a staged file: `diff` is its difference to their version,
    which has the id `base_sha`."""

    path: str
    base_sha: str
    content: str
    diff: str


class Changes(Struct, frozen=True, kw_only=True):
    """The staged changes of a run; `applied` is the latest order to write some, and `merged` are
    the files that it has merged with what somebody else had changed."""

    state: ChangesState
    files: list[Change]
    proposal: dict[str, str]
    applied: Apply | None
    merged: list[MergedFile]


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
            merged=_merged(applied) if applied is not None else [],
        )


def changes_of(run: Run) -> list[Change]:
    """The staged files of a run, by path, with their contents."""
    staged = staged_of(run)
    bases, conflicts = Bases(run, staged), _conflicts(staged)
    contents = _contents(staged)
    return [
        _change(each, contents[each.rows[-1].pk], bases, conflicts.get(each.rows[-1].pk))
        for each in staged
    ]


def _change(staged: Staged, content: str, bases: Bases, conflict: Conflict | None) -> Change:
    base, row = bases.of(staged), staged.rows[-1]
    others = [each.pk for each in (*staged.rows[:-1], *staged.source_rows)]
    op = _op_on(base, staged)
    return Change(
        path=staged.path,
        op=op,
        previous_path=staged.previous_path if op == "move" else None,
        content=content,
        base_sha=base.sha if base is not None else None,
        size=row.size,
        subtask_id=row.attempt.subtask_id,
        diff=_diff(staged, base, content, bases.mode_of(staged) or FILE),
        runs_ci=runs_ci(staged.path, staged.source),
        conflict=conflict,
        file_ids=(row.pk, *others),
    )


def _diff(staged: Staged, base: Base | None, content: str, mode: str) -> str | None:
    """None where the base is not known."""
    if base is not None and base.content is None:
        return None
    return patch_of(
        staged.path,
        base.content if base is not None else None,
        content if staged.op != "delete" else None,
        previous_path=staged.previous_path if base is not None else None,
        mode=mode,
    )


def _op_on(base: Base | None, staged: Staged) -> Op:
    """What a file means for a version of the repository."""
    if staged.op == "delete":
        return "delete"
    if base is None:
        return "create"
    return "update" if staged.op == "create" else staged.op


def status_of(order: Apply) -> str:
    """What became of an order: `applying`, `applied` (nothing is left of it), `partial`,
    `failed`."""
    if order.ended_at is None:
        return "applying"
    if all(file["status"] != "failed" for file in order.files):
        return "applied"
    return "partial" if order.commit else "failed"


def to_write(order: Apply, changes: Iterable[Change]) -> tuple[StagedChange, ...]:
    """The changes as they are checked against the repository, and merged with what somebody else
    has changed on the branch of the order."""
    paths = {change.path for change in changes}
    staged = [each for each in staged_of(order.run) if each.path in paths]
    bases = Bases(order.run, staged, target=order.target, branch=order.branch)
    contents = _contents(staged)
    return tuple(
        _to_write(each, bases, contents[each.rows[-1].pk] if each.op != "delete" else None)
        for each in staged
    )


def _to_write(staged: Staged, bases: Bases, content: str | None) -> StagedChange:
    base, origin = bases.of(staged), bases.base_before_conflict(staged)
    seen = bases.seen(staged)
    if origin is not None and content is None:
        # What is to be deleted there is to be deleted here, where nobody has changed it.
        seen |= {origin.sha}
    return StagedChange(
        path=staged.path,
        op=_op_on(base, staged),
        seen=seen,
        content=content,
        previous_path=staged.previous_path,
        base_sha=base.sha if base is not None else "",
        base=base.content if base is not None else "",  # both sides have created it
        origin_sha=origin.sha if origin is not None else "",
        origin=origin.content if origin is not None else None,
    )


def _contents(staged: Iterable[Staged]) -> Mapping[UUID, str]:
    """The contents of the rows that count."""
    rows = AttemptFile.objects.filter(pk__in=[each.rows[-1].pk for each in staged])
    return dict(rows.values_list("pk", "content"))


def _conflicts(staged: Sequence[Staged]) -> dict[UUID, Conflict]:
    merges = FileMerge.objects.filter(
        file__in=[each.rows[-1].pk for each in staged], state=MergeState.CONFLICT
    )
    return {
        merge.file_id: Conflict(merge.order.branch, merge.sha or None, merge.text)
        for merge in merges.select_related("order").defer("theirs", "base")
        if merge.order is not None
    }


def _merged(order: Apply) -> list[MergedFile]:
    merges = order.merges.filter(state=MergeState.MERGED).select_related("file")
    return [
        MergedFile(
            path=merge.file.path,
            base_sha=merge.sha,
            content=merge.text or "",
            diff=patch_of(merge.file.path, merge.theirs, merge.text),
        )
        for merge in merges.order_by("file__path")
    ]


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
