"""Attempts at subtasks whose run is held."""

from collections.abc import Iterable
from typing import Any

from common.ids import uuid7
from projects.models import Attempt, AttemptFile, Subtask
from projects.outputs import OutputFile
from projects.types import AttemptReason


def create(*, subtask: Subtask, reason: AttemptReason, **fields: Any) -> Attempt:
    """Create the next attempt at a subtask."""
    rows = subtask.run.rows
    number = max((attempt.number for attempt in rows.attempts_of(subtask)), default=0) + 1
    attempt = Attempt.objects.create(subtask=subtask, number=number, reason=reason, **fields)
    rows.attempts[attempt.pk] = attempt
    return attempt


def write_files(*, attempt: Attempt, files: Iterable[OutputFile]) -> None:
    """Store the files of an attempt."""
    AttemptFile.objects.bulk_create(
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


def copy_files(*, from_: Attempt, to: Attempt) -> None:
    """Let an attempt go on with the files of the one before."""
    rows = list(from_.files.all())
    for row in rows:
        row.pk, row.attempt = uuid7(), to
    AttemptFile.objects.bulk_create(rows)


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
