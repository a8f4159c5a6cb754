"""The files that a run can see and has made, and its proposal for them."""

import re
from uuid import UUID

from msgspec import Struct

from accounts.models import User
from common.consistent_reads import consistent_reads
from common.errors import NotFound
from integrations.workspaces.services.checkouts import read_files
from media.files.models import Upload
from projects.models import AttemptFile, Run
from projects.paths import media_type_of
from projects.selectors.lookup import get_run
from projects.selectors.staged import ops_of, staged_rows

_NOT_IN_A_SLUG = re.compile(r"[^a-z0-9]+")
_MAX_SLUG = 40
# Files of one page of a list.
MAX_FILES_LISTED = 10_000


class RunFile(Struct, frozen=True, kw_only=True):
    """A file that the run can see. `origin` is `repository`, `upload` or `staged`; `op` and
    `subtask_id` are those of a staged one; `size` is in bytes, None where it is not known."""

    path: str
    origin: str
    media_type: str
    size: int | None
    op: str | None = None
    subtask_id: UUID | None = None


class FilePage(Struct, frozen=True):
    """`next_path` is where the next page begins, None on the last one."""

    files: list[RunFile]
    next_path: str | None


def staged_files(run: Run) -> list[AttemptFile]:
    """The files of a run, by path, without their contents. Of two subtasks that write one path, the
    later in topological order counts."""
    staged = {row.path: row for row in staged_rows(run)}
    return sorted(staged.values(), key=lambda each: each.path)


def list_files(user: User, run_id: UUID, *, after: str = "") -> FilePage:
    """The files that the user's run can see, by path: the repository's, with those in their places
    that completed subtasks have written, and before all others the uploads. Raises NotFound."""
    run = get_run(user, run_id)
    uploads = Upload.objects.filter(runs__run=run).order_by("name") if not after else []
    given = [
        RunFile(path=each.name, origin="upload", media_type=each.media_type, size=each.size)
        for each in uploads
    ]
    files = _entries(run) | _staged(run)
    paths = sorted(path for path in files if path > after)
    page = [files[path] for path in paths[:MAX_FILES_LISTED]]
    return FilePage([*given, *page], page[-1].path if len(paths) > len(page) else None)


def read_file(user: User, run_id: UUID, path: str) -> tuple[RunFile, str | None]:
    """One file of the user's run, staged or of the repository, with its content; None for what is
    no text or too long. The host is asked for a file that was not read before.

    Raises NotFound, and what `read_files` raises.
    """
    with consistent_reads():
        run = get_run(user, run_id)
        shown = _staged(run).get(path)
        if shown is not None:
            return shown, next(each.content for each in staged_files(run) if each.path == path)
    file = _entries(run).get(path)
    if file is None or run.checkout is None:
        raise NotFound("This run sees no such file.")
    read_files(checkout=run.checkout, paths=[path])
    row = run.checkout.files.filter(path=path).first()
    return file, row.content if row is not None else None


def _entries(run: Run) -> dict[str, RunFile]:
    """The files of the repository, by path."""
    if run.checkout is None:
        return {}
    return {
        path: RunFile(
            path=path, origin="repository", media_type=media_type_of(path), size=entry.size
        )
        for path, entry in run.checkout.entries.items()
    }


def _staged(run: Run) -> dict[str, RunFile]:
    """The files that the run has written, by path, with what each means for the repository."""
    ops = ops_of(run)
    return {each.path: _shown(each, ops.get(each.path, each.op)) for each in staged_files(run)}


def _shown(file: AttemptFile, op: str) -> RunFile:
    return RunFile(
        path=file.path,
        origin="staged",
        media_type=media_type_of(file.path),
        size=file.size,
        op=op,
        subtask_id=file.attempt.subtask_id,
    )


def proposal_of(run: Run) -> dict[str, str]:
    """Where the run proposes to write its files: `{target, branch, message}`."""
    slug = _NOT_IN_A_SLUG.sub("-", run.title.lower()).strip("-")[:_MAX_SLUG].strip("-")
    branch = f"ai/{slug or 'run'}-{run.pk.hex[-6:]}"
    return {"target": "branch", "branch": branch, "message": run.title}
