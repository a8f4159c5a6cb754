"""The user's changes of a plan."""

from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from events.types import USER
from projects.errors import InvalidState, UnsoundPlanRefused
from projects.plans import UnsoundPlan
from projects.services import plans
from projects.services.advance import advance
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.runs import reopen

_WORDS = ("title", "summary", "final_instructions")


@transaction.atomic
def edit_plan(*, user: User, run_id: UUID, changes: dict[str, Any]) -> None:
    """Change the plan of a run that has one: `add`, `change`, `remove` and `order` of
    `plans.change`, and its words. A run that has completed or failed goes on.

    Raises NotFound, InvalidState where the run is cancelled or has no plan, RunLimitReached,
    ApplyInProgress, UnsoundPlanRefused.
    """
    run = lock_run(user, run_id)
    new_events = reopen(run=run, act="change the plan of")
    if not run.has_plan:
        raise InvalidState("This run has no plan yet. Wait for it.", session_status=run.status)
    words = {name: changes.pop(name) for name in _WORDS if name in changes}
    try:
        new_events += plans.change(run=run, actor=USER, words=words, **changes)
    except UnsoundPlan as unsound:
        raise UnsoundPlanRefused.of_faults(unsound.faults) from unsound
    append_events(run=run, events=[*new_events, *advance(run)])
