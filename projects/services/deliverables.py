"""What a run has made: a text of each completed subtask, the final text, and files."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from events.types import NewEvent
from projects import events
from projects.models import Attempt, AttemptFile, Deliverable, Run, Subtask
from projects.selectors.files import proposal_of, staged_files
from projects.selectors.staged import ops_of
from projects.types import SubtaskStatus


def deliver(*, subtask: Subtask, attempt: Attempt, actor: str) -> list[NewEvent]:
    """Deliver what a subtask has brought: its text, and its files."""
    is_cut = any(fault["path"] is None for fault in attempt.faults)
    written = _write(subtask.run, subtask, subtask.title, attempt.body, is_cut, actor)
    return [written, *_stage(subtask, attempt, actor)]


def deliver_final(*, run: Run, content: str, is_cut: bool, actor: str) -> NewEvent:
    """Deliver the final text. `is_cut`: the model ended it early."""
    return _write(run, None, run.title, content, is_cut, actor)


def finish(run: Run) -> list[NewEvent]:
    """Declare all texts final, and propose the files that are not written yet."""
    drafts = list(run.deliverables.filter(is_final=False).order_by("id"))
    run.deliverables.filter(is_final=False).update(is_final=True)
    for each in drafts:
        each.is_final = True
    new_events = [events.deliverable_event("updated", each) for each in drafts]
    staged = [each for each in staged_files(run) if each.applied_at is None]
    if staged:
        ops = ops_of(run)
        files: list[dict[str, Any]] = [
            {
                "path": each.path,
                "op": ops.get(each.path, each.op),
                "bytes": each.size,
                "subtask_id": each.attempt.subtask_id,
            }
            for each in staged
        ]
        new_events.append(events.changes_proposed(proposal_of(run), files))
    return new_events


def _write(
    run: Run, subtask: Subtask | None, name: str, content: str, is_cut: bool, actor: str
) -> NewEvent:
    """Write a new deliverable, or the next version of one that is there. Returns the event."""
    there = run.deliverables.filter(subtask=subtask).first()
    if there is None:
        written = Deliverable.objects.create(
            run=run,
            subtask=subtask,
            name=name,
            content=content,
            size=len(content),
            is_cut=is_cut,
        )
        return events.deliverable_event("created", written, actor)
    there.name, there.content, there.size = name, content, len(content)
    there.is_cut = is_cut
    there.version += 1
    there.is_final, there.updated_at = False, run.rows.now
    there.save()
    return events.deliverable_event("updated", there, actor)


def _stage(subtask: Subtask, attempt: Attempt, actor: str) -> Iterator[NewEvent]:
    """The events of the files of an attempt. The file of a later subtask is not replaced."""
    files = list(attempt.files.defer("content").order_by("path"))
    others, ops = (_writers(subtask), ops_of(subtask.run)) if files else ({}, {})
    for file in files:
        position, writer = others.get(file.path, (-1, None))
        if position < subtask.position:
            op = ops.get(file.path, file.op)
            yield events.file_staged(file, op, subtask.pk, writer, actor)


def _writers(subtask: Subtask) -> dict[str, tuple[int, UUID]]:
    """The last of the other completed subtasks that writes each path."""
    files = AttemptFile.objects.filter(
        attempt__current_of__run=subtask.run,
        attempt__current_of__status=SubtaskStatus.COMPLETED,
    ).exclude(attempt=subtask.current)
    rows = files.order_by("attempt__subtask__position").values_list(
        "path", "attempt__subtask__position", "attempt__subtask"
    )
    return {path: (position, writer) for path, position, writer in rows}
