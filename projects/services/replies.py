"""Carries out what the planner answers to a message: a reply, notes, changes of the plan."""

from events.types import NewEvent, model_actor
from projects import events
from projects.models import Run, Step
from projects.plans import UnsoundPlan
from projects.prompts.replying import Note, read_reply
from projects.selectors.messages import from_planner
from projects.services import plans
from projects.types import MAX_NOTES, SubtaskStatus

_OPEN = (SubtaskStatus.QUEUED, SubtaskStatus.RUNNING)


def carry_out(*, step: Step) -> list[NewEvent]:
    """Carry out the answer of a reply step that has ended. Returns the events."""
    run, actor = step.run, model_actor(step.model)
    reply = read_reply(step.content)
    text, new_events = reply.text, [*_note(run, reply.notes, actor)]
    if reply.changes_plan:
        try:
            new_events += plans.change(
                run=run,
                add=reply.add,
                change=reply.change,
                remove=reply.remove,
                actor=actor,
            )
        except UnsoundPlan as unsound:
            text = "\n\n".join(filter(None, (text, _not_changed(unsound))))
    step.result = {**step.result, "reply": text or "Noted."}
    step.save(update_fields=["result"])
    return [*new_events, events.message_created(from_planner(step), actor)]


def _note(run: Run, notes: tuple[Note, ...], actor: str) -> list[NewEvent]:
    """Give notes to subtasks that have not ended; others cannot use them."""
    subtasks = {row.key: row for row in run.rows.subtasks.values() if row.status in _OPEN}
    noted = {}
    for note in notes:
        subtask = subtasks.get(note.key)
        if subtask is not None:
            subtask.notes = [*subtask.notes, note.text][-MAX_NOTES:]
            subtask.save(update_fields=["notes"])
            noted[subtask.key] = subtask
    return [events.subtask_event("updated", subtask, actor) for subtask in noted.values()]


def _not_changed(unsound: UnsoundPlan) -> str:
    return f"The plan stays as it is: {' '.join(unsound.faults)}"
