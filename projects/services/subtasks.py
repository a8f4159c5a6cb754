"""What the user does with a subtask: give it to another model, or write its result."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.provider_health.errors import ProviderNotAvailable
from ai.provider_health.services import is_offered
from billing.services import idempotency
from billing.types import RequestKey
from events.types import USER, NewEvent
from projects import events
from projects.errors import SubtaskRunning, TooManyAttempts
from projects.models import Attempt, Run, Subtask
from projects.outputs import OutputFile, summary_of
from projects.selectors.subtasks import is_used_up
from projects.services import attempts, deliverables, final_text, resolving, steps
from projects.services.advance import advance
from projects.services.locks import lock_subtask
from projects.services.log import append_events
from projects.services.runs import reopen
from projects.types import MAX_NOTES, AssignedBy, AttemptReason, SubtaskStatus


@transaction.atomic
def reassign(
    *,
    user: User,
    run_id: UUID,
    subtask_id: UUID,
    model: str,
    instructions: str = "",
    request_key: RequestKey | None = None,
) -> bool:
    """Give a subtask to another model. One that runs is stopped, and begins again; one that has
    ended begins again, and what depends on it. A run that has ended goes on. Returns whether an
    earlier request with that key has done it, and nothing was done.

    Raises NotFound, InvalidState where the run is cancelled, RunLimitReached, ApplyInProgress,
    TooManyAttempts, IdempotencyMismatch, ProviderNotAvailable where the model cannot be called
    here.
    """
    if idempotency.claim(account=user, request_key=request_key) is not None:
        return True
    if not is_offered(get_catalog().models[model]):
        raise ProviderNotAvailable
    subtask = lock_subtask(user, run_id, subtask_id)
    run = subtask.run
    if is_used_up(subtask):
        raise TooManyAttempts.of_models()
    new_events = _reopen(run)
    was, has_begun = subtask.model, subtask.status != SubtaskStatus.QUEUED
    subtask.model, subtask.assigned_by = model, AssignedBy.USER
    if instructions:
        subtask.notes = [*subtask.notes, instructions][-MAX_NOTES:]
    if has_begun:
        resolving.hand_over(subtask)
        _stop(subtask)
        subtask.status, subtask.error = SubtaskStatus.QUEUED, None
        subtask.needs_attention = False
        new_events += _invalidate_dependents(subtask)
    subtask.reason = AttemptReason.REASSIGN if has_begun else subtask.reason
    subtask.save()
    new_events.append(
        events.subtask_event("reassigned", subtask, USER, from_model=was, to_model=model)
    )
    append_events(run=run, events=[*new_events, *advance(run)])
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=subtask_id)
    return False


@transaction.atomic
def replace(
    *,
    user: User,
    run_id: UUID,
    subtask_id: UUID,
    content: str,
    files: Sequence[OutputFile] = (),
) -> Subtask:
    """Write the result of a subtask oneself: it completes at once and costs nothing, and what
    depends on it begins again. A run that has ended goes on.

    Raises NotFound, InvalidState where the run is cancelled, SubtaskRunning, RunLimitReached,
    ApplyInProgress, TooManyAttempts.
    """
    subtask = lock_subtask(user, run_id, subtask_id)
    run = subtask.run
    if is_used_up(subtask, by_user=True):
        raise TooManyAttempts
    if subtask.status == SubtaskStatus.RUNNING:
        raise SubtaskRunning
    new_events = _reopen(run)
    attempt = _write(subtask, content, files)
    subtask.current, subtask.status, subtask.error = attempt, SubtaskStatus.COMPLETED, None
    subtask.is_stale = subtask.needs_attention = False
    subtask.save()
    new_events.append(events.subtask_event("replaced", subtask, USER))
    new_events += deliverables.deliver(subtask=subtask, attempt=attempt, actor=USER)
    new_events += _invalidate_dependents(subtask)
    append_events(run=run, events=[*new_events, *advance(run)])
    return subtask


def redo(*, subtask: Subtask, note: str, actor: str) -> list[NewEvent]:
    """Let a subtask that has ended be done again, with a note to its author, and after it what
    depends on it. The caller holds the run, which goes on. Returns the events."""
    if note:
        subtask.notes = [*subtask.notes, note][-MAX_NOTES:]
    subtask.status, subtask.error = SubtaskStatus.QUEUED, None
    subtask.reason, subtask.needs_attention = AttemptReason.REDO, False
    subtask.save()
    final_text.wait_for_more(run=subtask.run)
    return [
        *final_text.discard(run=subtask.run),
        events.subtask_event("updated", subtask, actor),
        *_invalidate_dependents(subtask),
    ]


def _reopen(run: Run) -> list[NewEvent]:
    """Let a run that has ended go on, and have its final text written again. Returns the events."""
    final_text.wait_for_more(run=run)
    return [*reopen(run=run, act="change"), *final_text.discard(run=run)]


def _stop(subtask: Subtask) -> None:
    steps.cancel(run=subtask.run, steps=subtask.run.rows.active_steps(subtask))


def _invalidate_dependents(subtask: Subtask) -> list[NewEvent]:
    """Let the subtasks that depend on this one, and on those, begin again. Returns the events."""
    run, changed = subtask.run, {subtask.key}
    new_events: list[NewEvent] = []
    for later in run.rows.subtasks.values():
        if not changed & set(later.depends_on):
            continue
        changed.add(later.key)
        if later.status == SubtaskStatus.QUEUED:
            continue
        _stop(later)
        later.status, later.reason = SubtaskStatus.QUEUED, AttemptReason.STALE
        later.is_stale, later.needs_attention, later.error = True, False, None
        later.save()
        new_events.append(events.subtask_event("stale", later, USER))
    return new_events


def _write(subtask: Subtask, content: str, files: Sequence[OutputFile]) -> Attempt:
    attempt = attempts.create(
        subtask=subtask,
        reason=AttemptReason.REPLACE,
        status=SubtaskStatus.COMPLETED,
        body=content,
        summary=summary_of(content),
        ended_at=subtask.run.rows.now,
    )
    attempts.write_files(attempt=attempt, files=files)
    return attempt
