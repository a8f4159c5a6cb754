"""Beginning and cancelling steps: each is a job for the workers."""

from collections.abc import Sequence

from django.db.models.functions import Now

from events.types import NewEvent
from jobs import services as jobs
from projects import events
from projects.models import Attempt, Run, Step, Subtask
from projects.types import JOB, Outcome, StepKind, SubtaskStatus


def begin(
    *,
    run: Run,
    kind: StepKind,
    model: str,
    subtask: Subtask | None = None,
    attempt: Attempt | None = None,
) -> Step:
    """Begin a step of a run whose row is held."""
    step = Step.objects.create(run=run, kind=kind, model=model, subtask=subtask, attempt=attempt)
    jobs.enqueue(job_id=step.pk, kind=JOB, account=run.account)
    return step


def cancel(*, run: Run, steps: Sequence[Step]) -> list[NewEvent]:
    """Cancel steps of a run whose row is held. Those that run end by themselves soon after, with
    what they have written; those that wait end now. Returns the events; the caller appends those of
    the subtasks."""
    idle = jobs.cancel(job_ids=[step.pk for step in steps])
    run.steps.filter(pk__in=idle).update(
        status=SubtaskStatus.CANCELLED, outcome=Outcome.CANCELLED, ended_at=Now()
    )
    attempts = Attempt.objects.filter(steps__in=idle, status=SubtaskStatus.RUNNING)
    attempts.update(status=SubtaskStatus.CANCELLED, ended_at=Now())
    finals = [step for step in steps if step.pk in idle and step.kind == StepKind.FINAL]
    return [events.final_event("ended", step) for step in finals]
