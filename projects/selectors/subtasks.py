"""Subtasks and their attempts for the run's owner."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

import msgspec
from django.db.models import Prefetch
from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_usage
from common.consistent_reads import consistent_reads
from common.errors import NotFound
from events.selectors import list_data
from projects.author_tools.arguments import told_of
from projects.author_tools.calls import StoredCall, read_calls
from projects.author_tools.results import cut_text
from projects.models import Attempt, AttemptFile, Step, Subtask
from projects.selectors.answers import shown_before, shown_from
from projects.selectors.lookup import get_run
from projects.shown_text import text_of
from projects.types import MAX_ATTEMPTS, AttemptReason, StepKind, SubtaskStatus

# Characters of the result of a call.
MAX_SHOWN_RESULT = 2_000


class Delta(Struct, frozen=True):
    """What is read of a `subtask.delta` or a `final.delta`, which names no subtask."""

    text: str
    subtask_id: UUID | None = None
    attempt: int = 0


_decode_delta = msgspec.json.Decoder(Delta).decode


class AttemptView(Struct, frozen=True, kw_only=True):
    """An attempt. `cost` is what was paid for it and its reviews, in nano-USD."""

    attempt: Attempt
    cost: int

    @property
    def source(self) -> str:
        """Who has written it."""
        return "user" if self.attempt.reason == AttemptReason.REPLACE else "model"


class SubtaskView(Struct, frozen=True, kw_only=True):
    """A subtask with the heads of its attempts; `attempt` is the number of the current one. `text`
    is what the running attempt has written so far, None where it goes by another way."""

    subtask: Subtask
    attempt: int | None
    attempts: list[AttemptView]
    usage: ChargeUsage | None
    cost: int
    text: str | None


class CallView(Struct, frozen=True, kw_only=True):
    """A call of a function by an author; `number` counts those of the whole answer. `result` is
    what its author was answered, cut to MAX_SHOWN_RESULT characters; None until it is carried out.
    """

    number: int
    name: str
    path: str | None
    query: str | None
    ok: bool
    summary: str
    result: str | None


class AttemptDetail(AttemptView, frozen=True, kw_only=True):
    """An attempt with its text. `sections` are the headings of what its author was given, `calls`
    those that it has made."""

    files: list[AttemptFile]
    sections: list[str]
    calls: list[CallView]


class SubtaskDetail(Struct, frozen=True, kw_only=True):
    """A subtask with all of its attempts, the earliest first."""

    view: SubtaskView
    attempts: list[AttemptDetail]


def is_used_up(subtask: Subtask, *, by_user: bool = False) -> bool:
    """Have models begun a subtask as often as they may, or its user written it?"""
    attempts = subtask.run.rows.attempts_of(subtask)
    own = sum(attempt.reason == AttemptReason.REPLACE for attempt in attempts)
    return (own if by_user else len(attempts) - own) >= MAX_ATTEMPTS


def get_detail(user: User, run_id: UUID, subtask_id: UUID) -> SubtaskDetail:
    """A subtask of the user's run with all of its attempts, at one moment. Raises NotFound."""
    with consistent_reads():
        return _read_detail(user, run_id, subtask_id)


def _read_detail(user: User, run_id: UUID, subtask_id: UUID) -> SubtaskDetail:
    subtask = get_run(user, run_id).rows.subtasks.get(subtask_id)
    if subtask is None:
        raise NotFound
    steps = [step.pk for step in subtask.run.rows.steps.values() if step.subtask_id == subtask.pk]
    view = view_of(subtask, get_usage(user, steps), with_text=True)
    rows = subtask.attempts.prefetch_related(
        Prefetch("files", AttemptFile.objects.defer("content").order_by("path"))
    )
    works = [*subtask.steps.filter(kind=StepKind.WORK).order_by("id").defer("content")]
    sections = {step.attempt_id: step.result.get("sections", []) for step in works}
    calls = _calls_by_attempt(works)
    attempts = [
        AttemptDetail(
            attempt=attempt,
            cost=head.cost,
            files=list(attempt.files.all()),
            sections=sections.get(attempt.pk, []),
            calls=calls[attempt.pk],
        )
        for head, attempt in zip(view.attempts, rows.order_by("number"), strict=True)
    ]
    return SubtaskDetail(view=view, attempts=attempts)


def _calls_by_attempt(works: Iterable[Step]) -> defaultdict[UUID | None, list[CallView]]:
    """The calls of each attempt: of its own turns, counted from the beginning of the answer."""
    calls: defaultdict[UUID | None, list[CallView]] = defaultdict(list)
    counts: dict[UUID | None, int] = {None: 0}
    for step in works:
        before, made = counts.get(step.continues_id, 0), read_calls(step.result)
        counts[step.pk] = before + len(made)
        calls[step.attempt_id] += [
            _call(number, call) for number, call in enumerate(made, before + 1)
        ]
    return calls


def _call(number: int, call: StoredCall) -> CallView:
    told, result = told_of(call.name, call.arguments), call.result
    return CallView(
        number=number,
        name=call.name,
        path=told.path,
        query=told.query,
        ok=result is not None and result.ok,
        summary=result.summary if result is not None else "",
        result=cut_text(result.text, MAX_SHOWN_RESULT) if result is not None else None,
    )


def view_of(subtask: Subtask, usage: Mapping[UUID, ChargeUsage], *, with_text: bool) -> SubtaskView:
    """A subtask, as the transaction sees it. `usage` is by the ids of steps."""
    rows = subtask.run.rows
    steps = [step for step in rows.steps.values() if step.subtask_id == subtask.pk]
    costs: defaultdict[UUID | None, int] = defaultdict(int)
    for step in steps:
        if step.pk in usage:
            costs[step.attempt_id] += usage[step.pk].billed
    work = [
        step
        for step in steps
        if step.kind == StepKind.WORK and step.attempt_id == subtask.current_id
    ]
    is_running = subtask.current is not None and subtask.current.status == SubtaskStatus.RUNNING
    return SubtaskView(
        subtask=subtask,
        attempt=subtask.current.number if subtask.current is not None else None,
        attempts=[
            AttemptView(attempt=each, cost=costs[each.pk]) for each in rows.attempts_of(subtask)
        ],
        usage=usage.get(work[-1].pk) if work else None,
        cost=sum(costs.values()),
        text=shown_text(work[-1]) if with_text and is_running else None,
    )


def text_in_log(step: Step) -> str:
    """What the log has of a step's own text, without that which it continues."""
    _, before = shown_before(step)
    return shown_text(step)[len(text_of(before)) :]


def shown_text(step: Step) -> str:
    """What readers see of the answer that a step writes, so far: also what it continues."""
    begins = shown_from(step)
    if begins.first_seq is None:
        return ""
    event_type = "final.delta" if step.kind == StepKind.FINAL else "subtask.delta"
    payloads = list_data(step.run_id, event_type=event_type, after_seq=begins.first_seq)
    number = step.attempt.number if step.attempt is not None else 0
    mine = (step.subtask_id, number)
    deltas = map(_decode_delta, payloads)
    return "".join(delta.text for delta in deltas if (delta.subtask_id, delta.attempt) == mine)
