"""The user's changes of a plan."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from events.types import USER
from projects.errors import InvalidState, UnsoundPlanRefused
from projects.models import Run
from projects.plans import UnsoundPlan
from projects.services import plans
from projects.services.advance import advance
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.runs import reopen
from projects.types import MAX_KEY

_WORDS = ("title", "summary", "final_instructions")


@transaction.atomic
def edit_plan(*, user: User, run_id: UUID, changes: dict[str, Any]) -> None:
    """Change the plan of a run that has one: `add`, `change`, `remove` and `order` of
    `plans.change`, and its words. A run that has completed or failed goes on, unless nothing is to
    be changed.

    Raises NotFound, InvalidState where the run is cancelled or has no plan, RunLimitReached,
    ApplyInProgress, UnsoundPlanRefused.
    """
    run = lock_run(user, run_id)
    if not any(value or name in _WORDS for name, value in changes.items()):
        return
    new_events = reopen(run=run, act="change the plan of")
    if not run.has_plan:
        raise InvalidState("This run has no plan yet. Wait for it.", session_status=run.status)
    if faults := _misnamed(run, **changes):
        raise UnsoundPlanRefused.of_faults(faults)
    words = {name: changes.pop(name) for name in _WORDS if name in changes}
    try:
        new_events += plans.change(run=run, actor=USER, words=words, **changes)
    except UnsoundPlan as unsound:
        raise UnsoundPlanRefused.of_faults(unsound.faults) from unsound
    append_events(run=run, events=[*new_events, *advance(run)])


def _misnamed(
    run: Run,
    *,
    add: Sequence[plans.Raw] = (),
    change: Sequence[plans.Raw] = (),
    order: Sequence[str] = (),
    **others: Any,
) -> list[str]:
    """What names a subtask or a field that there is not: to a person who has written it, that is no
    slip to pass over."""
    faults = []
    for each in (*add, *change):
        key = str(each.get("key", ""))[:MAX_KEY]
        if not key:
            faults.append('A subtask has no "key".')
        unknown = ", ".join(f'"{name[:MAX_KEY]}"' for name in each.keys() - plans.FIELDS)
        if unknown:
            faults.append(f'Subtask "{key}" has fields that there are not: {unknown}.')
    known = {row.key for row in run.rows.subtasks.values()} | {each.get("key") for each in add}
    return faults + [
        f'Subtask "{key}" does not exist: it cannot come first.'
        for key in order
        if key not in known
    ]
