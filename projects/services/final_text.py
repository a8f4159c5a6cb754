"""When the final text has to be written again."""

from events.types import NewEvent
from projects.models import Run
from projects.selectors.answers import unfinished
from projects.services import steps
from projects.types import StepKind


def discard(*, run: Run) -> list[NewEvent]:
    """Have the final text written again, because what it is made of changes: the one that is there
    does not count, and one that is being written is stopped. Returns the events."""
    if run.has_final is not None:
        run.has_final = None
        run.save(update_fields=["has_final"])
    begun = unfinished(run, StepKind.FINAL)
    if begun is not None:
        begun.goes_on = False
        begun.save(update_fields=["goes_on"])
    writing = [step for step in run.rows.active_steps() if step.kind == StepKind.FINAL]
    return steps.cancel(run=run, steps=writing)


def wait_for_more(*, run: Run) -> None:
    """More is to be done: what was there when its user had it finished is not all any more."""
    if run.is_finishing:
        run.is_finishing = False
        run.save(update_fields=["is_finishing"])
