"""A change of a run holds its row, so that one thing happens to it at a time."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from projects.models import Run, Step, Subtask


def lock_run(user: User, run_id: UUID) -> Run:
    """The user's run, held until the transaction ends. Raises NotFound."""
    rows = Run.objects.select_for_update(of=("self",)).select_related("account")
    run = rows.filter(account=user, pk=run_id).first()
    if run is None:
        raise NotFound
    return run


def lock_subtask(user: User, run_id: UUID, subtask_id: UUID) -> Subtask:
    """A subtask of the user's run, its run held. Raises NotFound."""
    run = lock_run(user, run_id)
    subtask = run.rows.subtasks.get(subtask_id)
    if subtask is None:
        raise NotFound("This run has no such subtask.")
    return subtask


def lock_step(step_id: UUID) -> Step | None:
    """A step among the rows of its run, which is held; for the end of the step. None where the run
    was deleted."""
    run = _lock_run_of(step_id)
    return run.rows.steps[step_id] if run is not None else None


def lock_step_alone(step_id: UUID) -> Step | None:
    """A step with its subtask and attempt, its run held; for the beginning of the step, which
    changes nothing else. None where the run was deleted."""
    run = _lock_run_of(step_id)
    if run is None:
        return None
    step = Step.objects.select_related("subtask", "attempt").get(pk=step_id)
    step.run = run
    if step.subtask is not None:
        step.subtask.run = run
    return step


def _lock_run_of(step_id: UUID) -> Run | None:
    rows = Run.objects.select_for_update(of=("self",)).select_related("account")
    return rows.filter(steps=step_id).order_by().first()
