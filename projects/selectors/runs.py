"""Runs for their owner."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from msgspec import Struct
from msgspec.structs import asdict

from accounts.models import User
from billing.selectors.charges import get_billed_by, get_usage
from common.consistent_reads import consistent_reads
from events.selectors import get_last_seq
from projects.activity import activity_of, advice_of
from projects.models import Deliverable, Run, Step, Subtask
from projects.selectors.costs import VendorCost, costs_by_vendor
from projects.selectors.deliverables import deliverables_of, final_text_of
from projects.selectors.lookup import get_run
from projects.selectors.messages import MessageView, messages_of
from projects.selectors.subtasks import SubtaskView, view_of
from projects.types import RunStatus, StepKind, SubtaskStatus

_WITHOUT_RESULT = (SubtaskStatus.FAILED, SubtaskStatus.SKIPPED)
_DONE = (SubtaskStatus.COMPLETED, *_WITHOUT_RESULT)


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run in a list. `cost` is what was paid, in nano-USD."""

    id: UUID
    title: str
    status: str
    phase: str
    pause_reason: str
    error: dict[str, Any] | None
    done: int
    total: int
    failed_subtasks: int
    cost: int
    budget: int | None
    models: list[str]
    created_at: datetime
    ended_at: datetime | None

    @property
    def advice(self) -> str | None:
        """What lets a paused run go on, in a sentence."""
        return advice_of(self.pause_reason, self.error)


class RunView(RunSummary, frozen=True, kw_only=True):
    """A run without its subtasks. `activity` is what goes on, in a sentence; `in_flight` counts the
    calls that wait or run."""

    activity: str
    in_flight: int
    costs: list[VendorCost]
    started_at: datetime | None


class Snapshot(RunView, frozen=True, kw_only=True):
    """A whole run after event `last_seq`."""

    run: Run
    last_seq: int
    final_text: str | None
    subtasks: list[SubtaskView]
    deliverables: list[Deliverable]
    messages: list[MessageView]


def list_runs(user: User, *, q: str = "", status: str = "") -> QuerySet[Run]:
    """The user's runs, filtered by a part of the title (`q`) and by status, if these are given."""
    owned = Run.objects.filter(account=user)
    if q:
        owned = owned.filter(title__icontains=q)
    return owned.filter(status=status) if status else owned


def get_snapshot(user: User, run_id: UUID) -> Snapshot:
    """A whole run at one moment. Raises NotFound.

    Rows and log are read in one snapshot, so that a client that follows the log from `last_seq` on
    misses nothing and sees nothing twice.
    """
    with consistent_reads():
        return snapshot_of(get_run(user, run_id))


def snapshot_of(run: Run) -> Snapshot:
    """A whole run, as the transaction sees it."""
    view, subtasks = read_views(run, with_text=True)
    return Snapshot(
        **asdict(view),
        run=run,
        last_seq=get_last_seq(run.pk),
        final_text=final_text_of(run),
        subtasks=subtasks,
        deliverables=list(deliverables_of(run).defer("content")),
        messages=messages_of(run),
    )


def read_views(run: Run, *, with_text: bool = False) -> tuple[RunView, list[SubtaskView]]:
    """A run and its subtasks in topological order, as the transaction sees them."""
    usage = get_usage(run.account, [*run.rows.steps])
    views = [view_of(row, usage, with_text=with_text) for row in run.rows.subtasks.values()]
    return _view(run, costs_by_vendor(run, usage)), views


def summaries_of(user: User, runs: Sequence[Run]) -> list[RunSummary]:
    """The user's runs as in lists. Two queries, however many subtasks and steps there are."""
    subtasks: defaultdict[UUID, list[tuple[str, str]]] = defaultdict(list)
    rows = Subtask.objects.filter(run__in=runs).order_by("position")
    for run_id, status, model in rows.values_list("run", "status", "model"):
        subtasks[run_id].append((status, model))
    costs = get_billed_by(user, Step.objects.filter(run__in=runs), "run")
    return [_summary(run, subtasks[run.pk], costs.get(run.pk, 0)) for run in runs]


def _summary(run: Run, subtasks: Sequence[tuple[str, str]], cost: int) -> RunSummary:
    statuses = [status for status, _ in subtasks]
    return RunSummary(
        id=run.pk,
        title=run.title,
        status=run.status,
        phase=run.phase,
        pause_reason=run.pause_reason,
        error=run.error,
        done=sum(status in _DONE for status in statuses),
        total=len(statuses),
        failed_subtasks=sum(status in _WITHOUT_RESULT for status in statuses),
        cost=cost,
        budget=run.budget,
        models=list(dict.fromkeys(model for _, model in subtasks)),
        created_at=run.created_at,
        ended_at=run.ended_at,
    )


def _view(run: Run, costs: list[VendorCost]) -> RunView:
    subtasks = [(row.status, row.model) for row in run.rows.subtasks.values()]
    active = [
        (StepKind(step.kind), step.subtask.title if step.subtask is not None else "")
        for step in run.rows.active_steps()
    ]
    return RunView(
        **asdict(_summary(run, subtasks, sum(each.cost for each in costs))),
        activity=activity_of(RunStatus(run.status), run.pause_reason, active),
        in_flight=len(active),
        costs=costs,
        started_at=run.started_at,
    )
