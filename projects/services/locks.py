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
    subtask = run.subtasks.select_related("current").filter(pk=subtask_id).first()
    if subtask is None:
        raise NotFound("This run has no such subtask.")
    subtask.run = run
    return subtask


def lock_step(step_id: UUID) -> Step | None:
    """A step, its run held; for those who carry it out. None where the run was deleted."""
    rows = Run.objects.select_for_update(of=("self",)).select_related("account")
    run = rows.filter(steps=step_id).first()
    if run is None:
        return None
    step = Step.objects.select_related("subtask__current", "attempt").get(pk=step_id)
    step.run = run
    if step.subtask is not None:
        step.subtask.run = run
    return step
