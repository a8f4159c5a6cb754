"""Writing to the log of a run, and to its user's own stream what their list shows now."""

from collections.abc import Sequence

from events.services import append
from events.types import NewEvent, ToUser
from projects import user_events
from projects.events import Change, rendered, run_event, with_final_text
from projects.models import Run
from projects.selectors.deliverables import final_text_of
from projects.selectors.runs import RunView, read_views
from projects.services.emails import tell_by_mail

# What changes the row of a run in a list, but for the second. What a step costs is in the list with
# the next of them.
_CHANGES_THE_ROW = ("run.", "subtask.", "plan.")
_NOT_THE_ROW = frozenset(
    {
        *("subtask.delta", "subtask.file", "subtask.tool", "subtask.updated"),
        *("run.updated", "run.phase"),
    }
)
# After which another final text counts, or none.
_CHANGES_THE_FINAL_TEXT = frozenset({"final.ended", "run.completed", "run.reopened"})
# What its user may want to be told by mail.
_MAILED = frozenset({"run.paused", "run.completed", "run.failed"})


def append_events(*, run: Run, events: Sequence[NewEvent]) -> None:
    """Append to the run's stream, at the end of a transaction. The last event has the whole run,
    with its final text where that may have changed. Where the run's row in the list has changed,
    its user's own stream has it, too."""
    if not events:
        return
    view, subtasks = read_views(run)
    complete = rendered(_ending_with_the_run(run, events), view, subtasks)
    if any(event.type in _MAILED for event in events):
        tell_by_mail(run)
    append(stream_id=run.pk, events=complete, to_users=_to_users(run, view, events))


def _ending_with_the_run(run: Run, events: Sequence[NewEvent]) -> list[NewEvent]:
    *others, last = events
    if not (isinstance(last, Change) and last.shows_run):
        others, last = [*events], run_event("updated")
    if any(event.type in _CHANGES_THE_FINAL_TEXT for event in events):
        last = with_final_text(last, final_text_of(run))
    return [*others, last]


def _to_users(run: Run, view: RunView, events: Sequence[NewEvent]) -> list[ToUser]:
    types = {event.type for event in events} - _NOT_THE_ROW
    if "run.created" in types:
        return [ToUser(run.account_id, [user_events.created(view)])]
    if not any(each.startswith(_CHANGES_THE_ROW) for each in types):
        return []
    return [ToUser(run.account_id, [user_events.updated(view)])]
