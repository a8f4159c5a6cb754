"""The texts that a run has made."""

from django.db.models import F, QuerySet

from projects.models import Deliverable, Run
from projects.selectors.subtasks import shown_text
from projects.types import MAX_FINAL_TEXT_BYTES, RunStatus, StepKind


def deliverables_of(run: Run) -> QuerySet[Deliverable]:
    """In the order of the plan, the final one last."""
    return run.deliverables.order_by(F("subtask__position").asc(nulls_last=True))


def final_text_of(run: Run) -> str | None:
    """What is written so far of the final text, while it is written; else the final text, at most
    MAX_FINAL_TEXT_BYTES of it. That of a single subtask is its text, once the run has completed."""
    for step in run.rows.active_steps():
        if step.kind == StepKind.FINAL:
            return shown_text(step)
    final = run.deliverables.filter(subtask=None)
    if run.status == RunStatus.COMPLETED and len(run.rows.subtasks) == 1:
        final = run.deliverables.exclude(subtask=None)
    text = final.values_list("content", flat=True).first()
    if text is None:
        return None
    return text.encode()[:MAX_FINAL_TEXT_BYTES].decode(errors="ignore")
