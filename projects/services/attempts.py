"""Attempts at subtasks whose run is held."""

from collections.abc import Iterable, Sequence
from typing import Any

from common.ids import uuid7
from integrations.workspaces.merging import is_marked
from projects.models import Attempt, AttemptFile, FileMerge, Subtask
from projects.outputs import OutputFile
from projects.selectors.conflicts import conflicts_of
from projects.types import AttemptReason, MergeState


def create(*, subtask: Subtask, reason: AttemptReason, **fields: Any) -> Attempt:
    """Create the next attempt at a subtask."""
    rows = subtask.run.rows
    number = max((attempt.number for attempt in rows.attempts_of(subtask)), default=0) + 1
    attempt = Attempt.objects.create(subtask=subtask, number=number, reason=reason, **fields)
    rows.attempts[attempt.pk] = attempt
    return attempt


def write_files(*, attempt: Attempt, files: Iterable[OutputFile]) -> None:
    """Store files of an attempt, in the place of those that it has at their paths. Those of a model
    whose subtask has a conflict were made from the text with both sides, which it was shown."""
    files = [*files]
    attempt.files.filter(path__in=[file.path for file in files]).delete()
    rows = AttemptFile.objects.bulk_create(
        AttemptFile(
            attempt=attempt,
            path=file.path,
            op=file.op,
            previous_path=file.previous_path,
            content=file.content,
            size=len(file.content.encode()),
        )
        for file in files
    )
    if attempt.reason != AttemptReason.REPLACE:
        _note_resolved(attempt, rows)


def _note_resolved(attempt: Attempt, rows: Sequence[AttemptFile]) -> None:
    conflicts = conflicts_of(attempt.subtask) if rows else {}
    FileMerge.objects.bulk_create(
        FileMerge(
            file=row,
            order=conflicts[row.path].order,
            state=MergeState.RESOLVED,
            has_base=True,
            base_sha=conflicts[row.path].sha,
            base=conflicts[row.path].theirs,
        )
        for row in rows
        if row.path in conflicts and not is_marked(row.content)
    )


def replace_files(*, attempt: Attempt, files: Iterable[OutputFile]) -> None:
    """Let these be all files of an attempt. Those that are as they were are not written again."""
    wanted = {file.path: file for file in files}
    for row in attempt.files.all():
        file = wanted.get(row.path)
        if file is not None and (file.op, file.content, file.previous_path) == (
            row.op,
            row.content,
            row.previous_path,
        ):
            del wanted[row.path]
        else:
            row.delete()
    write_files(attempt=attempt, files=wanted.values())


def copy_files(*, from_: Attempt, to: Attempt) -> None:
    """Let an attempt go on with the files of the one before."""
    rows = list(from_.files.all())
    for row in rows:
        row.pk, row.attempt = uuid7(), to
    AttemptFile.objects.bulk_create(rows)
    _note_resolved(to, rows)


def undo(*, attempt: Attempt) -> None:
    """Delete an attempt of which nothing was written; the one before it counts again."""
    subtask = attempt.subtask
    rows = subtask.run.rows
    del rows.attempts[attempt.pk]
    for step in rows.steps.values():
        if step.attempt_id == attempt.pk:
            step.attempt = None
    if subtask.current_id == attempt.pk:
        subtask.current = next(reversed(rows.attempts_of(subtask)), None)
        subtask.save(update_fields=["current"])
    attempt.delete()
