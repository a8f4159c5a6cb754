"""The files that a run has made, and its proposal for them."""

import re
from uuid import UUID

from msgspec import Struct

from projects.models import AttemptFile, Run
from projects.types import SubtaskStatus

_NOT_IN_A_SLUG = re.compile(r"[^a-z0-9]+")
_MAX_SLUG = 40


class StagedFile(Struct, frozen=True, kw_only=True):
    """A file as the completed subtasks leave it. `size` is in bytes."""

    path: str
    op: str
    size: int
    subtask_id: UUID
    file_id: UUID


def staged_files(run: Run) -> list[StagedFile]:
    """The files of a run, by path. Of two subtasks that write one path, the later in topological
    order counts."""
    files = AttemptFile.objects.filter(
        attempt__current_of__run=run, attempt__current_of__status=SubtaskStatus.COMPLETED
    ).select_related("attempt__subtask")
    rows = files.defer("content").order_by("attempt__subtask__position")
    staged = {
        row.path: StagedFile(
            path=row.path,
            op=row.op,
            size=row.size,
            subtask_id=row.attempt.subtask_id,
            file_id=row.pk,
        )
        for row in rows
    }
    return sorted(staged.values(), key=lambda each: each.path)


def proposal_of(run: Run) -> dict[str, str]:
    """Where the run proposes to write its files: `{target, branch, message}`."""
    slug = _NOT_IN_A_SLUG.sub("-", run.title.lower()).strip("-")[:_MAX_SLUG].strip("-")
    branch = f"ai/{slug or 'run'}-{run.pk.hex[-6:]}"
    return {"target": "branch", "branch": branch, "message": run.title}
