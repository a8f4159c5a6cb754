"""Subtasks and their attempts for the run's owner."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Prefetch, QuerySet
from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_usage
from common.errors import NotFound
from events.selectors import list_data
from projects.models import Attempt, AttemptFile, Run, Step, Subtask
from projects.types import StepKind


class Delta(Struct, frozen=True):
    """What is read of a `subtask.delta` or a `final.delta`, which names no subtask."""

    text: str
    subtask_id: UUID | None = None
    attempt: int = 0


_decode_delta = msgspec.json.Decoder(Delta).decode


class AttemptView(Struct, frozen=True, kw_only=True):
    """An attempt without its text. `cost` is what was paid for it and its reviews, in nano-USD."""

    number: int
    reason: str
    source: str
    model: str
    status: str
    summary: str
    verdict: str
    error: dict[str, Any] | None
    cost: int
    created_at: datetime
    ended_at: datetime | None


class SubtaskView(Struct, frozen=True, kw_only=True):
    """A subtask with the heads of its attempts; `attempt` is the number of the current one. `text`
    is what the running attempt has written so far, None where it goes by another way."""

    subtask: Subtask
    attempt: int | None
    attempts: list[AttemptView]
    usage: ChargeUsage | None
    cost: int
    text: str | None


class AttemptDetail(Struct, frozen=True, kw_only=True):
    """An attempt with its text. `sections` are the headings of what its author was given."""

    view: AttemptView
    attempt: Attempt
    files: list[AttemptFile]
    sections: list[str]


class SubtaskDetail(Struct, frozen=True, kw_only=True):
    """A subtask with all of its attempts, the earliest first."""

    view: SubtaskView
    attempts: list[AttemptDetail]


def get_detail(user: User, run_id: UUID, subtask_id: UUID) -> SubtaskDetail:
    """A subtask of the user's run with all of its attempts. Raises NotFound."""
    owned = Subtask.objects.select_related("run__account", "current")
    subtask = owned.filter(run__account=user, run=run_id, pk=subtask_id).first()
    if subtask is None:
        raise NotFound
    steps = steps_of(subtask.run).filter(subtask=subtask)
    usage = get_usage(user, [step.pk for step in steps])
    [view] = views_of([subtask], list(steps), usage, with_text=True)
    rows = subtask.attempts.prefetch_related(
        Prefetch("files", AttemptFile.objects.defer("content").order_by("path"))
    )
    works = subtask.steps.filter(kind=StepKind.WORK).order_by("id").defer("content")
    sections = {step.attempt_id: step.result.get("sections", []) for step in works}
    attempts = [
        AttemptDetail(
            view=head,
            attempt=attempt,
            files=list(attempt.files.all()),
            sections=sections.get(attempt.pk, []),
        )
        for head, attempt in zip(view.attempts, rows.order_by("number"), strict=True)
    ]
    return SubtaskDetail(view=view, attempts=attempts)


def steps_of(run: Run) -> QuerySet[Step]:
    """The steps of a run without their texts, the earliest first."""
    return run.steps.select_related("attempt").defer("content", "result").order_by("id")


def views_of(
    subtasks: Sequence[Subtask],
    steps: Sequence[Step],
    usage: dict[UUID, ChargeUsage],
    *,
    with_text: bool,
) -> list[SubtaskView]:
    """Subtasks, as the transaction sees them. `steps` are theirs, and may be others', too; `usage`
    is by the ids of steps."""
    attempts: defaultdict[UUID, list[Attempt]] = defaultdict(list)
    rows = Attempt.objects.filter(subtask__in=[each.pk for each in subtasks]).defer("body")
    for attempt in rows.order_by("number"):
        attempts[attempt.subtask_id].append(attempt)
    return [
        _view(
            subtask,
            attempts[subtask.pk],
            [step for step in steps if step.subtask_id == subtask.pk],
            usage,
            with_text,
        )
        for subtask in subtasks
    ]


def text_of(step: Step) -> str:
    """All that a step has written, so far."""
    return text_in_log(step) if step.ended_at is None else step.content


def text_in_log(step: Step) -> str:
    """What the log has of a step's text."""
    if step.first_seq is None:
        return ""
    event_type = "final.delta" if step.subtask_id is None else "subtask.delta"
    payloads = list_data(step.run_id, event_type=event_type, after_seq=step.first_seq)
    number = step.attempt.number if step.attempt is not None else 0
    mine = (step.subtask_id, number)
    deltas = map(_decode_delta, payloads)
    return "".join(delta.text for delta in deltas if (delta.subtask_id, delta.attempt) == mine)


def _view(
    subtask: Subtask,
    attempts: Sequence[Attempt],
    steps: Sequence[Step],
    usage: dict[UUID, ChargeUsage],
    with_text: bool,
) -> SubtaskView:
    costs: defaultdict[UUID | None, int] = defaultdict(int)
    for step in steps:
        if step.pk in usage:
            costs[step.attempt_id] += usage[step.pk].billed
    current = [step for step in steps if step.attempt_id == subtask.current_id]
    running = next((step for step in current if step.kind == "work" and not step.ended_at), None)
    work = next((step for step in reversed(current) if step.kind == "work"), None)
    return SubtaskView(
        subtask=subtask,
        attempt=subtask.current.number if subtask.current is not None else None,
        attempts=[_attempt(each, costs[each.pk]) for each in attempts],
        usage=usage.get(work.pk) if work is not None else None,
        cost=sum(costs.values()),
        text=text_of(running) if with_text and running is not None else None,
    )


def _attempt(attempt: Attempt, cost: int) -> AttemptView:
    return AttemptView(
        number=attempt.number,
        reason=attempt.reason,
        source="user" if attempt.reason == "replace" else "model",
        model=attempt.model,
        status=attempt.status,
        summary=attempt.summary,
        verdict=attempt.verdict,
        error=attempt.error,
        cost=cost,
        created_at=attempt.created_at,
        ended_at=attempt.ended_at,
    )
