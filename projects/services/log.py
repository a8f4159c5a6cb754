"""Writing to the log of a run, and to its user's own stream what their list shows now."""

from collections.abc import Sequence

from events.services import append
from events.types import NewEvent, ToUser
from projects import user_events
from projects.events import Change, rendered, run_event
from projects.models import Run
from projects.selectors.runs import RunView, read_views

# What changes the row of a run in a list, but for the second. What a step costs is in the list with
# the next of them.
_CHANGES_THE_ROW = ("run.", "subtask.", "plan.")
_NOT_THE_ROW = frozenset(
    {"subtask.delta", "subtask.file", "subtask.updated", "run.updated", "run.phase"}
)


def append_events(*, run: Run, events: Sequence[NewEvent]) -> None:
    """Append to the run's stream, at the end of a transaction. The last event has the whole run.
    Where the run's row in the list has changed, its user's own stream has it, too."""
    if not events:
        return
    if not (isinstance(events[-1], Change) and events[-1].shows_run):
        events = [*events, run_event("updated")]
    view, subtasks = read_views(run)
    complete = rendered(events, view, subtasks)
    append(stream_id=run.pk, events=complete, to_users=_to_users(run, view, events))


def _to_users(run: Run, view: RunView, events: Sequence[NewEvent]) -> list[ToUser]:
    types = {event.type for event in events} - _NOT_THE_ROW
    if "run.created" in types:
        return [ToUser(run.account_id, [user_events.created(view)])]
    if not any(each.startswith(_CHANGES_THE_ROW) for each in types):
        return []
    return [ToUser(run.account_id, [user_events.updated(view)])]
