"""The texts that a run has made."""

from typing import Final

from django.db.models import F, QuerySet

from projects.models import Deliverable, Run
from projects.selectors.subtasks import shown_text
from projects.types import MAX_FINAL_TEXT_BYTES, RunStatus, StepKind, SubtaskStatus

_NOT_WRITTEN: Final = "No model could write this text. It has the results of the parts."


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


def text_of_parts(run: Run) -> str:
    """The final text where no model could write one: the results of the parts in the order of the
    plan, and which are missing."""
    rows = run.rows.subtasks.values()
    done = [row for row in rows if row.status == SubtaskStatus.COMPLETED]
    sections = [f"## {row.title}\n\n{row.current.body}" for row in done if row.current is not None]
    missing = [f"- {row.title}" for row in rows if row.status != SubtaskStatus.COMPLETED]
    if missing:
        sections.append("\n".join(["Without a result:", "", *missing]))
    return "\n\n".join([_NOT_WRITTEN, *sections])
