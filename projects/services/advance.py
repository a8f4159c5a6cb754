"""Carries out what `projects.decisions` decides, in the transaction that changed the run."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from ai.catalog.selectors import get_catalog
from events import inbox
from events.types import SYSTEM, NewEvent, model_actor
from projects import events
from projects.decisions import (
    Accept,
    Action,
    FailSubtask,
    Finish,
    GiveUpReply,
    Pause,
    Skip,
    Start,
    decide,
)
from projects.models import Attempt, Run, Step, Subtask
from projects.selectors.answers import shown_from, unfinished
from projects.selectors.candidate_models import reviewer_of, roster_of_run
from projects.selectors.deliverables import text_of_parts
from projects.selectors.messages import from_user
from projects.selectors.refused_steps import OF_REFUSALS, error_of_refusal
from projects.selectors.states import state_of
from projects.selectors.substitutes import substitute_of
from projects.selectors.subtasks import is_used_up
from projects.selectors.working_copies import uses_tools
from projects.services import attempts, deliverables, steps
from projects.types import (
    GOING_ON,
    MAX_ATTEMPTS,
    MAX_TRIES,
    AssignedBy,
    AttemptReason,
    Outcome,
    PauseReason,
    Phase,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)

_PARTS_MISSING = "parts_missing"


def advance(run: Run) -> list[NewEvent]:
    """Go on with a run whose row is held. Returns the events, which the caller appends."""
    new_events: list[NewEvent] = []
    for action in decide(state_of(run, newest=inbox.newest_number(run.pk))):
        new_events += _carry_out(run, action)
    _name_missing_parts(run)
    return [*new_events, *_phase(run)]


def _carry_out(run: Run, action: Action) -> list[NewEvent]:
    match action:
        case Start(StepKind.WORK):
            return _work(_subtask(run, action.subtask_id), action)
        case Start(StepKind.REVIEW):
            return _review(_subtask(run, action.subtask_id), action.number)
        case Start(kind, number=number):
            return _of_the_run(run, kind, number)
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
        case GiveUpReply():
            return _give_up_reply(run)
        case Pause(reason):
            return pause(run, reason)
        case Finish():
            return _finish(run)


def pause(run: Run, reason: PauseReason, actor: str = SYSTEM) -> list[NewEvent]:
    """Pause a run. Steps that run go on to their end."""
    run.status, run.pause_reason = RunStatus.PAUSED, reason
    if reason == PauseReason.STEP_FAILED:
        run.error = error_of_missing_parts(run)
    if reason in OF_REFUSALS:
        run.error = error_of_refusal(run, reason)
    run.save(update_fields=["status", "pause_reason", "error"])
    return [events.run_event("paused", actor)]


def close(run: Run, status: RunStatus) -> list[NewEvent]:
    """End a run. Messages that no model was sent are handed back."""
    run.status, run.pause_reason, run.error, run.ended_at = status, "", None, run.rows.now
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


def _of_the_run(run: Run, kind: StepKind, number: int) -> list[NewEvent]:
    """Begin a step that belongs to no subtask."""
    continued, failed = unfinished(run, kind), _failed_before(run, kind, number)
    model = continued.model if continued is not None else run.planner_model
    step = steps.begin(
        run=run,
        kind=kind,
        model=_model_of_try(failed, model, number),
        continues=continued,
        number=number,
    )
    new_events: list[NewEvent] = []
    if failed is not None:
        new_events.append(events.run_retrying(step, failed))
    if kind == StepKind.FINAL and shown_from(step) is step:
        new_events.append(events.final_event("started", step))
    return new_events


def _work(subtask: Subtask, start: Start) -> list[NewEvent]:
    """Begin an attempt, or continue the answer of the one that runs."""
    run, before = subtask.run, subtask.current
    failed = _failed_before(run, StepKind.WORK, start.number, subtask)
    model = _model_of_try(failed, subtask.model, start.number)
    if model != subtask.model:
        subtask.model, subtask.assigned_by = model, AssignedBy.FALLBACK
    continued = None
    if before is not None and (start.reason is None or start.reason in GOING_ON):
        continued = unfinished(run, StepKind.WORK, before)
    attempt = before
    if attempt is None or start.reason is not None:
        reason = start.reason or AttemptReason.RETRY
        attempt = attempts.create(subtask=subtask, reason=reason, model=model)
        if before is not None and (continued is not None or _keeps_files(run, model, reason)):
            attempts.copy_files(from_=before, to=attempt)
    steps.begin(
        run=run,
        kind=StepKind.WORK,
        model=model,
        subtask=subtask,
        attempt=attempt,
        continues=continued,
        number=start.number,
    )
    is_new = subtask.status == SubtaskStatus.QUEUED
    subtask.current, subtask.status, subtask.error = attempt, SubtaskStatus.RUNNING, None
    subtask.save(update_fields=["current", "status", "error", "model", "assigned_by"])
    if start.reason is None:
        return []
    if is_new:
        return [events.subtask_event("started", subtask, reason=start.reason)]
    return [events.subtask_event("retrying", subtask, reason=start.reason)]


def _keeps_files(run: Run, model: str, reason: AttemptReason) -> bool:
    """Does the author of another attempt find its files as it has left them?"""
    is_revision = reason in (AttemptReason.REVISION, AttemptReason.REDO)
    return is_revision and uses_tools(run, get_catalog().find(model))


def _review(subtask: Subtask, number: int) -> list[NewEvent]:
    run, attempt = subtask.run, subtask.current
    assert attempt is not None  # noqa: S101 - it has just completed
    failed = _failed_before(run, StepKind.REVIEW, number, subtask)
    continued = unfinished(run, StepKind.REVIEW, attempt)
    if continued is not None:
        reviewer = continued.model
    else:
        reviewer = reviewer_of(attempt.model, roster_of_run(run), run.reviewer_model)
    step = steps.begin(
        run=run,
        kind=StepKind.REVIEW,
        model=_model_of_try(failed, reviewer, number),
        subtask=subtask,
        attempt=attempt,
        continues=continued,
        number=number,
    )
    return [events.run_retrying(step, failed)] if failed is not None else []


def _failed_before(
    run: Run, kind: StepKind, number: int, subtask: Subtask | None = None
) -> Step | None:
    """The step that this try repeats."""
    if number == 1:
        return None
    place = subtask.pk if subtask is not None else None
    return next(
        step
        for step in reversed(run.rows.steps.values())
        if step.kind == kind and step.subtask_id == place and step.outcome == Outcome.FAILED
    )


def _model_of_try(failed: Step | None, model: str, number: int) -> str:
    """The model that makes a try: after all tries of one the model of another vendor."""
    if failed is None:
        return model
    if number <= MAX_TRIES:
        return failed.model
    return substitute_of(failed) or model


def _accept(subtask: Subtask, needs_attention: bool) -> list[NewEvent]:
    attempt = subtask.current
    assert attempt is not None  # noqa: S101 - it has just completed
    new_events: list[NewEvent] = []
    if subtask.run.reviews and not attempt.verdict:
        new_events = _leave_unreviewed(attempt)
    subtask.status, subtask.is_stale = SubtaskStatus.COMPLETED, False
    subtask.needs_attention = needs_attention
    subtask.save(update_fields=["status", "is_stale", "needs_attention"])
    actor = model_actor(attempt.model)
    return [
        *new_events,
        events.subtask_event("completed", subtask, actor),
        *deliverables.deliver(subtask=subtask, attempt=attempt, actor=actor),
    ]


def _leave_unreviewed(attempt: Attempt) -> list[NewEvent]:
    """No reviewer has said anything clear."""
    reviews = [
        step for step in attempt.subtask.run.rows.steps.values() if step.attempt_id == attempt.pk
    ]
    attempt.verdict = Verdict.UNAVAILABLE
    attempt.review = {"model": reviews[-1].model, "points": [], "issues": []}
    attempt.save(update_fields=["verdict", "review"])
    return [events.review_completed(attempt, reviews[-1].model)]


def _end_without_result(
    subtask: Subtask, status: SubtaskStatus, error: dict[str, Any] | None
) -> None:
    subtask.status, subtask.is_stale, subtask.error = status, False, error
    subtask.save(update_fields=["status", "is_stale", "error"])


def _give_up_reply(run: Run) -> list[NewEvent]:
    """Leave the messages without an answer; authors are sent them all the same."""
    last = [step for step in run.rows.steps.values() if step.kind == StepKind.REPLY][-1]
    answered = last.result.get("answers", inbox.newest_number(run.pk))
    unanswered = [*range(run.answered + 1, answered + 1)]
    last.result = {**last.result, "unanswered": unanswered}
    last.save(update_fields=["result"])
    run.answered = answered
    run.save(update_fields=["answered"])
    return [events.reply_failed(last)]


def _finish(run: Run) -> list[NewEvent]:
    told = []
    if len(run.rows.subtasks) > 1 and not run.has_final:
        text = text_of_parts(run)
        told.append(deliverables.deliver_final(run=run, content=text, is_cut=False, actor=SYSTEM))
    finals = deliverables.finish(run)
    returned = close(run, RunStatus.COMPLETED)
    return [*told, *finals, *returned, *_phase(run), events.run_event("completed")]


def _name_missing_parts(run: Run) -> None:
    """Let a run that stands without some parts name those that are missing now: its user may have
    written them, or taken them off the plan."""
    if run.status != RunStatus.PAUSED or (run.error or {}).get("code") != _PARTS_MISSING:
        return
    error = error_of_missing_parts(run)
    run.error = error if error["code"] == _PARTS_MISSING else None
    run.save(update_fields=["error"])


def error_of_missing_parts(run: Run) -> dict[str, Any]:
    """Why a run stands whose steps have all failed, and what helps."""
    missing = [row for row in run.rows.subtasks.values() if row.status != SubtaskStatus.COMPLETED]
    if not missing:
        return {
            "code": "final_failed",
            "message": "The final text could not be written. All parts are there: resume to have "
            "it written, now or later, or finish the run with the parts as they are.",
        }
    message = (
        f"Without a result: {_titles(missing)}. Resume to try again, give them to other models, "
        "write them yourself, take them off the plan, or finish the run without them."
    )
    if used_up := [row for row in missing if is_used_up(row)]:
        message += f" Models have done {_titles(used_up)} {MAX_ATTEMPTS} times, and do no more."
    return {"code": _PARTS_MISSING, "message": message}


def _titles(rows: Iterable[Subtask]) -> str:
    return ", ".join(f"“{row.title}”" for row in rows)


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
    is_over = run.status == RunStatus.COMPLETED
    if is_over or StepKind.FINAL in active or run.has_final is not None:
        return Phase.FINALIZING
    if StepKind.REVIEW in active and StepKind.WORK not in active:
        return Phase.REVIEWING
    return Phase.EXECUTING
