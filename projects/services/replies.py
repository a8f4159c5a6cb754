"""Carries out what the planner answers to a message: a reply, notes, changes of the plan."""

from collections.abc import Iterable, Mapping, Sequence

from events.types import NewEvent, model_actor
from projects import events
from projects.models import Run, Step, Subtask
from projects.plan_edits import edited_fields
from projects.plans import UnsoundPlan
from projects.prompts.replying import Note, Reply, read_reply
from projects.selectors.answers import text_before
from projects.selectors.messages import from_planner
from projects.selectors.subtasks import is_used_up
from projects.services import plans, subtasks
from projects.types import MAX_ATTEMPTS, MAX_NOTES, SubtaskStatus

_OPEN = (SubtaskStatus.QUEUED, SubtaskStatus.RUNNING)


def carry_out(*, step: Step, is_last: bool) -> list[NewEvent] | None:
    """Carry out the answer of a reply step that has ended, all of it or nothing. Returns the
    events; None where it cannot be carried out, and the planner is asked again, with the `faults`
    of the step. Where it `is_last`, the person is told them."""
    actor = model_actor(step.model)
    reply = read_reply(text_before(step) + step.content)
    new_events = list[NewEvent]()
    text = reply.text
    # What is done again and is not over yet has a note in the place of that.
    notes = [*reply.notes, *(note for note in reply.redo if _is_at_work(step.run, note.key))]
    try:
        new_events += _changes(step.run, reply, actor)
    except UnsoundPlan as unsound:
        step.result = {**step.result, "faults": unsound.faults}
        if not is_last:
            step.save(update_fields=["result"])
            return None
        text = "\n\n".join(filter(None, (text, _not_changed(unsound))))
    new_events += _note(step.run, notes, actor)
    step.result = {**step.result, "reply": text or "Noted."}
    step.save(update_fields=["result"])
    return [*new_events, events.message_created(from_planner(step), actor)]


def _changes(run: Run, reply: Reply, actor: str) -> list[NewEvent]:
    """Change the plan, and begin what is to be done again. Raises UnsoundPlan before anything was
    changed."""
    rows = {row.key: row for row in run.rows.subtasks.values()}
    change, faults = _edits(rows, reply.change)
    again = [note for note in reply.redo if note.key in rows and not _is_open(rows[note.key])]
    faults += _faults_of_redo(rows, reply.redo)
    if faults:
        raise UnsoundPlan(faults)
    new_events: list[NewEvent] = []
    if reply.changes_plan:
        final = reply.final_instructions
        new_events += plans.change(
            run=run,
            add=reply.add,
            change=change,
            remove=reply.remove,
            words={"final_instructions": final} if final is not None else {},
            actor=actor,
        )
    for note in again:
        new_events += subtasks.redo(subtask=rows[note.key], note=note.text, actor=actor)
    return new_events


def _edits(
    rows: Mapping[str, Subtask], changes: Sequence[plans.Raw]
) -> tuple[list[plans.Raw], list[str]]:
    """The changes with the whole fields that they mean, and what is wrong with them."""
    edits: dict[str, plans.Raw] = {}
    faults = []
    for change in changes:
        key = str(change.get("key"))
        if key not in rows:
            edits[key] = change
            continue
        shown = plans.raw(rows[key]) | edits.get(key, {})
        fields, fault = edited_fields(shown, change)
        edits[key] = edits.get(key, {}) | fields
        faults += [fault] if fault is not None else []
    return [*edits.values()], faults


def _faults_of_redo(rows: Mapping[str, Subtask], notes: Iterable[Note]) -> list[str]:
    faults = []
    for note in notes:
        row = rows.get(note.key)
        if row is None:
            faults.append(f'Subtask "{note.key[:40]}" does not exist: it cannot be done again.')
        elif is_used_up(row):
            faults.append(f'Subtask "{note.key}" has been done {MAX_ATTEMPTS} times already.')
    return faults


def _is_at_work(run: Run, key: str) -> bool:
    return any(row.key == key and _is_open(row) for row in run.rows.subtasks.values())


def _is_open(subtask: Subtask) -> bool:
    return subtask.status in _OPEN


def _note(run: Run, notes: Iterable[Note], actor: str) -> list[NewEvent]:
    """Give notes to subtasks that have not ended; others cannot use them."""
    rows = {row.key: row for row in run.rows.subtasks.values() if _is_open(row)}
    noted = {}
    for note in notes:
        subtask = rows.get(note.key)
        if subtask is not None and note.text:
            subtask.notes = [*subtask.notes, note.text][-MAX_NOTES:]
            subtask.save(update_fields=["notes"])
            noted[subtask.key] = subtask
    return [events.subtask_event("updated", subtask, actor) for subtask in noted.values()]


def _not_changed(unsound: UnsoundPlan) -> str:
    return f"The plan stays as it is: {' '.join(unsound.faults)}"
