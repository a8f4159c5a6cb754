"""Resolves conflicts of staged files with what somebody else has changed in the repository."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from msgspec import Struct

from accounts.models import User
from common.errors import ValidationFailed
from events.types import USER, NewEvent
from integrations.workspaces.changes import MAX_FILE_BYTES
from integrations.workspaces.merging import is_marked
from projects import events
from projects.errors import ConflictChanged, NoConflict, NothingStaged
from projects.models import FileMerge, Subtask
from projects.selectors.conflicts import conflicts_of
from projects.selectors.staged import Staged, staged_of
from projects.services.apply_claims import check_no_claim
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.types import MAX_NOTES, MAX_READS, MergeState

_NOTE = (
    "Somebody else has changed {paths} in the repository since. You are shown both sides between "
    "the conflict markers <<<<<<<, ======= and >>>>>>>: keep what both want, and leave no marker."
)


class ResolvedFile(Struct, frozen=True, kw_only=True):
    """A text with both sides, None where the file is to be deleted. `base_sha` is the id of the
    version of the other side that it was made from, "" where that is gone."""

    path: str
    base_sha: str
    content: str | None


@transaction.atomic
def resolve(*, user: User, run_id: UUID, files: Sequence[ResolvedFile]) -> None:
    """Stage the user's texts of files with conflicts, in the place of those of the run: all of
    them, or none. May be repeated with other texts until they are written. Raises NotFound,
    NothingStaged, NoConflict, ConflictChanged, ApplyInProgress, ValidationFailed."""
    run = lock_run(user, run_id)
    staged = {each.path: each for each in staged_of(run)}
    if not staged:
        raise NothingStaged
    check_no_claim(run)
    append_events(run=run, events=[_resolve(staged.get(each.path), each) for each in files])


def hand_over(subtask: Subtask) -> None:
    """Let the next author of a subtask resolve its conflicts: what it is shown of these files has
    both sides. The caller saves the subtask."""
    paths = [*conflicts_of(subtask)]
    if paths:
        subtask.reads = [*dict.fromkeys([*paths, *subtask.reads])][:MAX_READS]
        subtask.notes = [*subtask.notes, _NOTE.format(paths=", ".join(paths))][-MAX_NOTES:]


def _resolve(staged: Staged | None, file: ResolvedFile) -> NewEvent:
    row = staged.rows[-1] if staged is not None else None
    merge = FileMerge.objects.filter(file=row).exclude(state=MergeState.MERGED).first()
    if staged is None or row is None or merge is None:
        raise NoConflict(f"{file.path} has no conflict.")
    if merge.state == MergeState.CONFLICT:
        # What the text is made from. One that is given again was made from the same.
        merge.base_sha, merge.base = merge.sha, merge.theirs
    if merge.base_sha != file.base_sha:
        raise ConflictChanged
    _check(staged, file)
    content = file.content or ""
    is_new = not merge.base_sha or staged.op == "move"
    row.op = "delete" if file.content is None else "create" if is_new else "update"
    row.content, row.size = content, len(content.encode())
    row.save(update_fields=["op", "content", "size"])
    merge.state, merge.has_base, merge.text = MergeState.RESOLVED, True, None
    merge.save()
    return events.file_staged(row, row.op, row.attempt.subtask_id, None, USER)


def _check(staged: Staged, file: ResolvedFile) -> None:
    """Raises ValidationFailed."""
    if file.content is None:
        if staged.op == "move" or not file.base_sha:
            raise ValidationFailed.of("files", f"{file.path} is gone: discard it instead.")
        if staged.op == "create":
            problem = (
                f"{file.path} is a file that somebody else has created: discard yours instead."
            )
            raise ValidationFailed.of("files", problem)
        return
    if len(file.content.encode()) > MAX_FILE_BYTES:
        raise ValidationFailed.of("files", f"{file.path} has more than {MAX_FILE_BYTES:,} bytes.")
    if is_marked(file.content):
        raise ValidationFailed.of("files", f"{file.path} has conflict markers left in it.")
