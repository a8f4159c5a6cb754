"""The snapshot of a run for `projects.decisions`."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec.structs import replace

from ai.inference.errors import CallInterrupted
from projects.decisions import Refusal, RunState, Slot, SubtaskState
from projects.errors import NothingHandedIn
from projects.models import Attempt, Run, Step, Subtask
from projects.refusals import is_repeatable, pause_reason_of
from projects.selectors.answers import unfinished
from projects.selectors.substitutes import substitute_of
from projects.types import (
    GOING_ON,
    AttemptReason,
    Outcome,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)

# By subtask, or the kind of a step without one.
_SlotsByPlace = Mapping[UUID | StepKind, Slot]


def state_of(run: Run, *, newest: int) -> RunState:
    """The run, as the transaction sees it. `newest` is the number of the newest message."""
    slots = _slots(run)
    return RunState(
        status=RunStatus(run.status),
        subtasks=_subtasks(run, slots) if run.has_plan else None,
        bad_plans=run.bad_plans,
        needs_approval=run.needs_approval,
        reviews=run.reviews,
        max_parallel=run.max_parallel,
        active=frozenset(
            (StepKind(step.kind), step.subtask_id) for step in run.rows.active_steps()
        ),
        unanswered=newest > run.answered,
        has_final=bool(run.has_final),
        is_finishing=run.is_finishing,
        slots={kind: slots[kind] for kind in StepKind if kind in slots},
    )


def _slots(run: Run) -> dict[UUID | StepKind, Slot]:
    """What the steps that have ended say of the places in which they ran: subtasks, and kinds of
    steps without one."""
    slots: dict[UUID | StepKind, Slot] = {}
    for step in run.rows.steps.values():
        if step.ended_at is not None:
            place = step.subtask_id or StepKind(step.kind)
            counts = run.resumed_at is None or step.ended_at > run.resumed_at
            slots[place] = _after(slots.get(place, Slot()), step, counts)
    return slots


def _after(slot: Slot, step: Step, counts: bool) -> Slot:
    if not counts:
        return Slot()
    code = (step.error or {}).get("code", "")
    if step.attempt is not None and step.attempt.reason not in GOING_ON:
        slot = replace(slot, in_vain=0)
    match Outcome(step.outcome):
        case Outcome.LOST:
            return replace(slot, losses=slot.losses + 1, refusal=None)
        case Outcome.REFUSED:
            refusal = Refusal(pause_reason_of(code), step.beside_others)
            return replace(slot, refusal=refusal)
        case Outcome.FAILED:
            in_vain = slot.in_vain + (code == NothingHandedIn.code)
            return Slot(
                failed_try=step.number,
                is_repeatable=is_repeatable(code),
                has_substitute=in_vain <= 1 and substitute_of(step) is not None,
                in_vain=in_vain,
            )
        case _:
            return Slot(in_vain=slot.in_vain if step.goes_on else 0)


def _subtasks(run: Run, slots: _SlotsByPlace) -> tuple[SubtaskState, ...]:
    rows = run.rows
    return tuple(_subtask(row, slots, rows.attempts_of(row)) for row in rows.subtasks.values())


def _subtask(subtask: Subtask, slots: _SlotsByPlace, attempts: Sequence[Attempt]) -> SubtaskState:
    current, slot = subtask.current, slots.get(subtask.pk, Slot())
    if subtask.status == SubtaskStatus.QUEUED:
        # It begins again: with another model, or because its user wants it.
        slot = replace(slot, failed_try=0)
    return SubtaskState(
        id=subtask.pk,
        key=subtask.key,
        depends_on=tuple(subtask.depends_on),
        status=SubtaskStatus(subtask.status),
        result=_result(current),
        verdict=Verdict(current.verdict) if current is not None and current.verdict else None,
        has_faults=current is not None and bool(current.open_faults),
        revisions=_revisions([attempt.reason for attempt in attempts]),
        reason=AttemptReason(subtask.reason),
        goes_on=current is not None
        and current.status == SubtaskStatus.RUNNING
        and unfinished(subtask.run, StepKind.WORK, current) is not None,
        slot=slot,
    )


def _result(current: Attempt | None) -> bool | None:
    """Whether the current attempt has completed or failed; None where it runs, or was lost."""
    if current is None or (current.error or {}).get("code") == CallInterrupted.code:
        return None
    match SubtaskStatus(current.status):
        case SubtaskStatus.COMPLETED:
            return True
        case SubtaskStatus.FAILED:
            return False
        case _:
            return None


def _revisions(reasons: Sequence[str]) -> int:
    """How many of the latest attempts were asked for by reviews."""
    count = 0
    for reason in reversed(reasons):
        if reason == AttemptReason.REVISION:
            count += 1
        elif reason not in GOING_ON:
            break
    return count
