"""Carries out what `projects.decisions` decides, in the transaction that changed the run."""

from typing import Any
from uuid import UUID

from events import inbox
from events.types import SYSTEM, NewEvent, model_actor
from projects import events
from projects.decisions import (
    Accept,
    Action,
    FailSubtask,
    Finish,
    Pause,
    Skip,
    Start,
    decide,
)
from projects.models import Run, Subtask
from projects.selectors.candidate_models import reviewer_of, roster_of_run
from projects.selectors.messages import from_user
from projects.selectors.states import state_of
from projects.services import attempts, deliverables, steps
from projects.types import (
    PauseReason,
    Phase,
    RunStatus,
    StepKind,
    SubtaskStatus,
)

_FAILURES = {
    "no_subtask_completed": "No subtask could be completed. Reassign one to another model, or "
    "write its result yourself, and the run goes on.",
    "final_failed": "The final text could not be written. Reassign or replace a subtask, and the "
    "run goes on.",
}


def advance(run: Run) -> list[NewEvent]:
    """Go on with a run whose row is held. Returns the events, which the caller appends."""
    new_events: list[NewEvent] = []
    for action in decide(state_of(run, newest=inbox.newest_number(run.pk))):
        new_events += _carry_out(run, action)
    return [*new_events, *_phase(run)]


def _carry_out(run: Run, action: Action) -> list[NewEvent]:
    match action:
        case Start(StepKind.WORK):
            return _work(_subtask(run, action.subtask_id), action)
        case Start(StepKind.REVIEW):
            return _review(_subtask(run, action.subtask_id))
        case Start(kind):
            step = steps.begin(run=run, kind=kind, model=run.planner_model)
            return [events.final_event("started", step)] if kind == StepKind.FINAL else []
        case Accept(subtask_id, needs_attention):
            return _accept(_subtask(run, subtask_id), needs_attention)
        case FailSubtask(subtask_id):
            subtask = _subtask(run, subtask_id)
            error = subtask.current.error if subtask.current is not None else None
            _end_without_result(subtask, SubtaskStatus.FAILED, error)
            return [events.subtask_event("failed", subtask)]
        case Skip(subtask_id):
            subtask = _subtask(run, subtask_id)
            _end_without_result(subtask, SubtaskStatus.SKIPPED, None)
            return [events.subtask_event("skipped", subtask)]
        case Pause(reason):
            return pause(run, reason)
        case Finish(code):
            return _finish(run, code)


def pause(run: Run, reason: PauseReason, actor: str = SYSTEM) -> list[NewEvent]:
    """Pause a run. Steps that run go on to their end."""
    run.status, run.pause_reason = RunStatus.PAUSED, reason
    run.save(update_fields=["status", "pause_reason"])
    return [events.run_event("paused", actor)]


def close(run: Run, status: RunStatus) -> list[NewEvent]:
    """End a run. Messages that no model was sent are handed back."""
    run.status, run.pause_reason, run.ended_at = status, "", run.rows.now
    run.save(update_fields=["status", "pause_reason", "ended_at", "error"])
    unread = inbox.close_inbox(stream_id=run.pk)
    returned = [from_user(message, "returned") for message in unread]
    if returned:
        run.returned = [*run.returned, *(message.number for message in returned)]
        run.save(update_fields=["returned"])
    return [events.messages_returned(returned)] if returned else []


def _subtask(run: Run, subtask_id: UUID | None) -> Subtask:
    assert subtask_id is not None  # noqa: S101 - the action is about a subtask
    return run.rows.subtasks[subtask_id]


def _work(subtask: Subtask, start: Start) -> list[NewEvent]:
    assert start.reason is not None  # noqa: S101 - every attempt has a reason
    attempt = attempts.create(subtask=subtask, reason=start.reason, model=subtask.model)
    steps.begin(
        run=subtask.run,
        kind=StepKind.WORK,
        model=subtask.model,
        subtask=subtask,
        attempt=attempt,
    )
    is_new = subtask.status == SubtaskStatus.QUEUED
    subtask.current, subtask.status, subtask.error = attempt, SubtaskStatus.RUNNING, None
    subtask.save(update_fields=["current", "status", "error"])
    if is_new:
        return [events.subtask_event("started", subtask, reason=start.reason)]
    return [events.subtask_event("retrying", subtask, reason=start.reason)]


def _review(subtask: Subtask) -> list[NewEvent]:
    run, attempt = subtask.run, subtask.current
    assert attempt is not None  # noqa: S101 - it has just completed
    reviewer = reviewer_of(attempt.model, roster_of_run(run), run.reviewer_model)
    steps.begin(run=run, kind=StepKind.REVIEW, model=reviewer, subtask=subtask, attempt=attempt)
    return []


def _accept(subtask: Subtask, needs_attention: bool) -> list[NewEvent]:
    attempt = subtask.current
    assert attempt is not None  # noqa: S101 - it has just completed
    subtask.status, subtask.is_stale = SubtaskStatus.COMPLETED, False
    subtask.needs_attention = needs_attention
    subtask.save(update_fields=["status", "is_stale", "needs_attention"])
    actor = model_actor(attempt.model)
    return [
        events.subtask_event("completed", subtask, actor),
        *deliverables.deliver(subtask=subtask, attempt=attempt, actor=actor),
    ]


def _end_without_result(
    subtask: Subtask, status: SubtaskStatus, error: dict[str, Any] | None
) -> None:
    subtask.status, subtask.is_stale, subtask.error = status, False, error
    subtask.save(update_fields=["status", "is_stale", "error"])


def _finish(run: Run, code: str | None) -> list[NewEvent]:
    if code is not None:
        run.error = {"code": code, "message": _FAILURES[code]}
        returned = close(run, RunStatus.FAILED)
        return [*returned, events.run_event("failed")]
    run.error = None
    finals = deliverables.finish(run)
    returned = close(run, RunStatus.COMPLETED)
    return [*finals, *returned, events.run_event("completed")]


def _phase(run: Run) -> list[NewEvent]:
    """Bring the phase in line with what runs. Returns the event; none where nothing has changed."""
    phase = _phase_of(run)
    if phase == run.phase:
        return []
    run.phase = phase
    run.save(update_fields=["phase"])
    return [events.run_phase(run)]


def _phase_of(run: Run) -> Phase:
    if not run.has_plan:
        return Phase.PLANNING
    active = {step.kind for step in run.rows.active_steps()}
    if StepKind.FINAL in active or run.has_final is not None:
        return Phase.FINALIZING
    if StepKind.REVIEW in active and StepKind.WORK not in active:
        return Phase.REVIEWING
    return Phase.EXECUTING
