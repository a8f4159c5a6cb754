"""The files that a run has made, and its proposal for them."""

import re
from uuid import UUID

from msgspec import Struct

from accounts.models import User
from common.consistent_reads import consistent_reads
from common.errors import NotFound
from files.models import Upload
from projects.models import AttemptFile, Run
from projects.paths import media_type_of
from projects.selectors.lookup import get_run
from projects.types import SubtaskStatus

_NOT_IN_A_SLUG = re.compile(r"[^a-z0-9]+")
_MAX_SLUG = 40


class RunFile(Struct, frozen=True, kw_only=True):
    """A file that the run can see. `origin` is `upload` or `staged`; `op` and `subtask_id` are
    those of a staged one; `size` is in bytes."""

    path: str
    origin: str
    media_type: str
    size: int
    op: str | None = None
    subtask_id: UUID | None = None


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


def list_files(user: User, run_id: UUID) -> list[RunFile]:
    """The files that the user's run can see: uploads, and those that completed subtasks have
    written, by path. Raises NotFound."""
    run = get_run(user, run_id)
    uploads = Upload.objects.filter(runs__run=run).order_by("name")
    given = [
        RunFile(path=each.name, origin="upload", media_type=each.media_type, size=each.size)
        for each in uploads
    ]
    staged = [
        RunFile(
            path=each.path,
            origin="staged",
            media_type=media_type_of(each.path),
            size=each.size,
            op=each.op,
            subtask_id=each.subtask_id,
        )
        for each in staged_files(run)
    ]
    return [*given, *staged]


def read_staged(user: User, run_id: UUID, path: str) -> tuple[RunFile, str]:
    """A staged file of the user's run with its content, at one moment. Raises NotFound."""
    with consistent_reads():
        return _read_staged(get_run(user, run_id), path)


def _read_staged(run: Run, path: str) -> tuple[RunFile, str]:
    found = next((each for each in staged_files(run) if each.path == path), None)
    if found is None:
        raise NotFound("This run has written no such file.")
    shown = RunFile(
        path=path,
        origin="staged",
        media_type=media_type_of(path),
        size=found.size,
        op=found.op,
        subtask_id=found.subtask_id,
    )
    return shown, AttemptFile.objects.values_list("content", flat=True).get(pk=found.file_id)


def proposal_of(run: Run) -> dict[str, str]:
    """Where the run proposes to write its files: `{target, branch, message}`."""
    slug = _NOT_IN_A_SLUG.sub("-", run.title.lower()).strip("-")[:_MAX_SLUG].strip("-")
    branch = f"ai/{slug or 'run'}-{run.pk.hex[-6:]}"
    return {"target": "branch", "branch": branch, "message": run.title}
