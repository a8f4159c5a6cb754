"""Beginning and cancelling steps: each is a job for the workers."""

from collections.abc import Sequence

from events.types import NewEvent
from projects import events
from projects.models import Attempt, Run, Step, Subtask
from projects.types import JOB, MAX_TRIES, PAUSES, Outcome, StepKind, SubtaskStatus
from work.jobs import services as jobs


def begin(
    *,
    run: Run,
    kind: StepKind,
    model: str,
    subtask: Subtask | None = None,
    attempt: Attempt | None = None,
    continues: Step | None = None,
    number: int = 1,
) -> Step:
    """Begin a step of a run whose row is held: one that `continues` the answer of another, if it
    does. `number` is that of the try; before another one of the same model there is a pause."""
    step = Step.objects.create(
        run=run,
        kind=kind,
        model=model,
        subtask=subtask,
        attempt=attempt,
        continues_id=continues.pk if continues is not None else None,
        number=number,
    )
    run.rows.steps[step.pk] = step
    pause = PAUSES[number - 2] if 2 <= number <= MAX_TRIES else 0
    jobs.enqueue(job_id=step.pk, kind=JOB, account=run.account, pause=pause)
    return step


def cancel(*, run: Run, steps: Sequence[Step]) -> list[NewEvent]:
    """Cancel steps of a run whose row is held. Those that run end by themselves soon after, with
    what they have written; those that wait end now. Returns the events; the caller appends those of
    the subtasks."""
    idle = jobs.cancel(job_ids=[step.pk for step in steps])
    ended = [step for step in steps if step.pk in idle]
    attempts = [
        step.attempt
        for step in ended
        if step.attempt is not None and step.attempt.status == SubtaskStatus.RUNNING
    ]
    for step in ended:
        step.status, step.outcome = SubtaskStatus.CANCELLED, Outcome.CANCELLED
        step.ended_at = run.rows.now
    for attempt in attempts:
        attempt.status, attempt.ended_at = SubtaskStatus.CANCELLED, run.rows.now
    Step.objects.bulk_update(ended, ["status", "outcome", "ended_at"])
    Attempt.objects.bulk_update(attempts, ["status", "ended_at"])
    return [events.final_event("ended", step) for step in ended if step.kind == StepKind.FINAL]
