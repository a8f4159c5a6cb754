"""What the user does for the end of a run: complete it with what is there, or have the final text
written again."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from events.types import NewEvent
from projects.errors import InvalidState, NothingCompleted
from projects.models import Run
from projects.services import final_text
from projects.services.advance import advance
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.runs import cancel_work, let_go_on
from projects.types import ENDED, WITHOUT_RESULT, RunStatus, StepKind, SubtaskStatus


@transaction.atomic
def finish(*, user: User, run_id: UUID) -> None:
    """Complete a run with the parts that are there: what is being worked on is stopped, what waits
    is skipped, and the final text names what is missing. A completed run stays as it is.

    Raises NotFound, InvalidState where the run is cancelled or has failed, NothingCompleted,
    RunLimitReached, ApplyInProgress.
    """
    run = lock_run(user, run_id)
    if run.status == RunStatus.COMPLETED:
        return
    if run.status in ENDED:
        raise InvalidState.of(run.status, "finish")
    if not any(row.status == SubtaskStatus.COMPLETED for row in run.rows.subtasks.values()):
        raise NothingCompleted
    # The planner goes on with its answer to a message.
    working = [step for step in run.rows.active_steps() if step.kind != StepKind.REPLY]
    new_events = _go_on(run)
    new_events += cancel_work(run=run, active=working, statuses=(SubtaskStatus.RUNNING,))
    run.is_finishing, run.needs_approval = True, False
    run.save(update_fields=["is_finishing", "needs_approval"])
    append_events(run=run, events=[*new_events, *advance(run)])


@transaction.atomic
def rewrite(*, user: User, run_id: UUID) -> None:
    """Have the final text written again, now or where all parts are there. A run that has ended
    goes on for it.

    Raises NotFound, InvalidState where the run is cancelled, has failed, is made of a single part,
    whose result is the final text, or is paused because parts have no result, NothingCompleted,
    RunLimitReached, ApplyInProgress.
    """
    run = lock_run(user, run_id)
    if run.status in (RunStatus.CANCELLED, RunStatus.FAILED):
        raise InvalidState.of(run.status, "write the final text of")
    if not any(row.status == SubtaskStatus.COMPLETED for row in run.rows.subtasks.values()):
        raise NothingCompleted
    if len(run.rows.subtasks) == 1:
        raise InvalidState(
            "The result of the only part is the final text. Reassign the part to have it written "
            "again.",
            session_status=run.status,
        )
    if run.status == RunStatus.PAUSED and not run.is_finishing and _is_stuck(run):
        raise InvalidState(
            "Parts of this run have no result. Resume to have them tried again, or finish the run "
            "without them: its final text is written then.",
            session_status=run.status,
        )
    new_events = [*_go_on(run), *final_text.discard(run=run)]
    append_events(run=run, events=[*new_events, *advance(run)])


def _is_stuck(run: Run) -> bool:
    """Are there parts without a result that nobody tries again?"""
    return any(row.status in WITHOUT_RESULT for row in run.rows.subtasks.values())


def _go_on(run: Run) -> list[NewEvent]:
    """Let a run go on that is paused or completed. Returns the events."""
    if run.status not in (RunStatus.PAUSED, RunStatus.COMPLETED):
        return []
    return let_go_on(run=run)
