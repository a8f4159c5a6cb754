"""A run whose steps end as a test wants, and whose user acts at any moment, without a worker.

All of it happens in one transaction, so no worker sees the jobs.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F
from rest_framework.renderers import JSONRenderer

from accounts.models import User
from ai.generations.endings import conclude, give_up
from ai.generations.types import Completion
from ai.inference.errors import AnswerInterrupted, CallInterrupted, UpstreamFailed
from ai.providers.types import ToolCall
from billing.errors import GroupBudgetExceeded, InsufficientBalance
from billing.models import ChargeGroup
from billing.services import reconciliation, sweeps
from billing.tests import bank
from billing.tests.bank import BALANCE_ONLY
from billing.types import Ending, Funds
from billing.units import Units
from common.errors import Conflict, DomainError, ServiceUnavailable, ValidationFailed
from common.ids import uuid7
from common.money import NUSD_PER_USD
from events.inbox import newest_number
from events.models import Event
from integrations.githosts.types import FILE, Entry, HostKind
from integrations.workspaces.listings import pack
from integrations.workspaces.models import Checkout
from projects.author_tools.calls import read_calls
from projects.decisions import decide
from projects.models import AttemptFile, Run, Step
from projects.selectors.runs import snapshot_of
from projects.selectors.states import state_of
from projects.serializers.runs import RunSerializer
from projects.services import edits, finishing, messages, runs, subtasks
from projects.services.completion import STEP
from projects.services.preparation import prepare
from projects.services.settings import change_settings
from projects.tests import picture
from projects.types import ENDED, AttemptReason, RunStatus, StepKind, SubtaskStatus
from tests.personas import new_user
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs

COST = 1_000_000  # nano-USD of a call, at cost
# In nano-USD; the least is soon too little, or the verdict of a hold.
BUDGETS = (None, 10_000_000, 40 * NUSD_PER_USD)
PLAN = {
    "title": "Sea",
    "subtasks": [
        {"key": "a", "title": "A", "instructions": "Write.", "writes": ["sea.md"]},
        {"key": "b", "title": "B", "instructions": "Write.", "depends_on": ["a"]},
        {"key": "c", "title": "C", "instructions": "Write.", "writes": ["sea.md"]},
        {"key": "d", "title": "D", "instructions": "Write.", "depends_on": ["b", "c"]},
        {"key": "e", "title": "E", "instructions": "Write."},
    ],
}
REPLY = {"reply": "Yes.", "notes": [{"subtask": "e", "text": "Mind it."}]}
GOOD = {
    StepKind.PLAN: json.dumps(PLAN),
    StepKind.REPAIR: json.dumps(PLAN),
    StepKind.WORK: "The sea is deep. 🌊",
    StepKind.REVIEW: '{"verdict": "accept"}',
    StepKind.REPLY: json.dumps(REPLY),
    StepKind.FINAL: "All of it.",
}
# What is no plan, no praise, and no reply in its form.
ODD = {**dict.fromkeys(StepKind, "Hm."), StepKind.REVIEW: '{"verdict": "revise"}'}


# What an author on a repository asks for in one turn.
CALLS: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = (
    (("write_file", {"path": "tide.md", "content": ""}),),
    (("read_file", {"path": "README.md"}), ("search", {"text": "sea"})),
    (
        ("edit_file", {"path": "README.md", "old": "Sea", "new": "Ocean"}),
        ("finish", {"result": ""}),
    ),
    (("write_file", {"path": "low.md", "content": ""}), ("finish", {"result": "Done."})),
    (("read_file", {"path": "gone.md"}), ("dance", {}), ("finish", {"result": "Done."})),
)


class World:
    """Alice and her run, which works on a repository if it is `on_repository`."""

    def __init__(
        self,
        *,
        max_parallel: int,
        budget_usd: int | None,
        approve_plan: bool,
        on_repository: bool = False,
    ) -> None:
        self.alice = new_user("alice", plan="max", balance_usd=50)
        self.run, _ = runs.start(
            user=self.alice,
            request_key=None,
            checkout=_checkout(self.alice) if on_repository else None,
            goal="Write about the sea.",
            planner_model="gpt-6-luna",
            max_subtasks=12,
            max_parallel=max_parallel,
            budget=None if budget_usd is None else budget_usd * NUSD_PER_USD,
            approve_plan=approve_plan,
        )
        if self.run.checkout is not None:
            self.run.checkout.files.create(path="README.md", content="# Sea\n", size=6)
        self._owners: dict[UUID, UUID] = {}
        self._now = datetime.now(UTC)

    # --- What happens to steps --------------------------------------------------------------------

    def active(self) -> list[Step]:
        return list(self.run.steps.filter(ended_at=None).order_by("id"))

    def begin(self, pick: int) -> Step | None:
        """A worker claims a step, and calls the provider. None where there is none to claim, or
        where it must not be made any more."""
        active = {step.pk: step for step in self.active()}
        waiting = (Job.Status.QUEUED, Job.Status.SCHEDULED)
        jobs = Job.objects.filter(pk__in=active, status__in=waiting).order_by("id")
        queued = [active[job_id] for job_id in jobs.values_list("pk", flat=True)]
        if not queued:
            return None
        step = queued[pick % len(queued)]
        owner = self._owners[step.pk] = bank.live_owner()
        Job.objects.filter(pk=step.pk).update(
            status=Job.Status.RUNNING, attempt=F("attempt") + 1, owner_id=owner
        )
        try:
            prepared = prepare(job_id=step.pk, attempt=1)
        except DomainError as failure:
            give_up(STEP, call_id=step.pk, attempt=1, failure=failure)
            return None
        assert prepared is not None
        verdict, _ = bank.hold(
            self.alice, COST, owner=owner, charge=step.pk, model=BALANCE_ONLY, group=self.run.pk
        )
        if verdict != "held":
            refusal = GroupBudgetExceeded(
                model_key=step.model, plan="max", funds=Funds(0, 0), needed=COST
            )
            give_up(STEP, call_id=step.pk, attempt=1, failure=refusal)
            return None
        messages.mark_delivered(step_id=step.pk, up_to=prepared.newest)
        return step

    def end(self, pick: int, fate: str) -> None:
        """A step ends: one that is being made, or one that is then begun."""
        made = [step for step in self.active() if step.pk in self._owners]
        step = made[pick % len(made)] if made and fate != "refused" else self.begin(pick)
        if step is not None:
            self._end(step, fate, pick)

    def _end(self, step: Step, fate: str, pick: int) -> None:
        step.refresh_from_db()
        if fate == "calls" and "is_last" in step.result:
            del self._owners[step.pk]
            asked = [
                ToolCall(f"{step.pk}-{number}", name, _arguments(arguments, step))
                for number, (name, arguments) in enumerate(CALLS[pick % len(CALLS)])
            ]
            completion = Completion(tool_calls=tuple(asked), finish_reason="tool_calls")
            self.conclude(step, "settled", completion)
            return
        owner = self._owners.pop(step.pk)
        text = (ODD if fate == "odd" else GOOD)[StepKind(step.kind)]
        match fate:
            case "good" | "odd" | "calls":
                self.conclude(step, "settled", Completion(content=text, finish_reason="stop"))
            case "cut":
                cut = Completion(content=text[: len(text) // 2] or text, finish_reason="length")
                self.conclude(step, "settled", cut)
            case "fails":
                self.conclude(step, "released", Completion(failure=UpstreamFailed()))
            case "breaks off":
                self.conclude(
                    step, "settled", Completion(content="The s", failure=AnswerInterrupted())
                )
            case "dies" | "drains":
                bank.kill(owner)
                failure = CallInterrupted() if fate == "dies" else ServiceUnavailable()
                give_up(STEP, call_id=step.pk, attempt=1, failure=failure)
            case "refused":
                bank.kill(owner)
                refusal = InsufficientBalance(
                    model_key=step.model, plan="max", funds=Funds(0, 0), needed=COST
                )
                give_up(STEP, call_id=step.pk, attempt=1, failure=refusal)

    def conclude(self, step: Step, status: Any, completion: Completion) -> None:
        """The call of a step ends."""
        cost = COST if status == "settled" else 0
        units: Units = {"tokens_in": 5, "tokens_out": 10} if cost else {}
        conclude(
            STEP,
            call_id=step.pk,
            attempt=1,
            ending=Ending(step.pk, self.alice.pk, status, cost, units),
            completion=completion,
        )

    def let_pass(self, hours: int) -> None:
        """Let time pass in which no worker renews its lease: what they had is lost."""
        for pause in (timedelta(hours=hours), timedelta(minutes=1)):
            self._now += pause
            bank.set_clock(self._now)
            sweeps.expire_lapsed_charges()
            end_lost_jobs()
        assert not Job.objects.filter(pk__in=self._owners, status=Job.Status.RUNNING).exists()
        self._owners.clear()

    # --- What alice does --------------------------------------------------------------------------

    def act(self, what: str, pick: int) -> None:
        """One of her acts, which may be refused."""
        rows = list(self.run.subtasks.order_by("position"))
        row = rows[pick % len(rows)] if rows else None
        acts: dict[str, Callable[[], object]] = {
            "pause": lambda: runs.pause_run(**self._whose()),
            "resume": lambda: runs.resume(**self._whose()),
            "cancel": lambda: runs.cancel(**self._whose()),
            "message": lambda: messages.send(**self._whose(), content="Mind the whales."),
            "finish": lambda: finishing.finish(**self._whose()),
            "rewrite": lambda: finishing.rewrite(**self._whose()),
            "rename": lambda: change_settings(**self._whose(), title=f"Sea {pick}"),
            "budget": lambda: change_settings(**self._whose(), budget=BUDGETS[pick % len(BUDGETS)]),
            "add": lambda: self._edit(
                add=[{"key": f"x{pick}", "title": "X", "instructions": "Write."}]
            ),
        }
        if row is not None:
            acts |= {
                "reassign": lambda: subtasks.reassign(
                    **self._whose(), subtask_id=row.pk, model="claude-haiku-5-5"
                ),
                "replace": lambda: subtasks.replace(
                    **self._whose(), subtask_id=row.pk, content="Mine."
                ),
                "change": lambda: self._edit(change=[{"key": row.key, "title": f"T{pick}"}]),
                "remove": lambda: self._edit(remove=[row.key]),
            }
        if what in acts:
            with suppress(Conflict, ValidationFailed):
                acts[what]()

    def _edit(self, **changes: Any) -> None:
        edits.edit_plan(**self._whose(), changes=changes)

    def _whose(self) -> dict[str, Any]:
        return {"user": self.alice, "run_id": self.run.pk}

    # --- What is always true ----------------------------------------------------------------------

    def check(self) -> None:
        self.run = Run.objects.select_related("account").get(pk=self.run.pk)
        check_decided(self.run)
        self._check_subtasks()
        self._check_freshness()
        self._check_calls()
        self._check_money()
        check_log(self.run)

    def _check_subtasks(self) -> None:
        rows = {row.key: row for row in self.run.subtasks.all()}
        running = [row for row in rows.values() if row.status == SubtaskStatus.RUNNING]
        assert len(running) <= self.run.max_parallel
        for row in running:
            assert {rows[key].status for key in row.depends_on} <= {SubtaskStatus.COMPLETED}
        active = {step.pk: step.subtask_id for step in self.active()}
        ending = Job.objects.filter(pk__in=active).exclude(signal=Job.Signal.NONE)
        for job_id in ending.values_list("pk", flat=True):
            del active[job_id]
        at_work = [subtask_id for subtask_id in active.values() if subtask_id is not None]
        assert len(at_work) == len(set(at_work))
        if self.run.status in ENDED:
            assert not {row.status for row in rows.values()} & {"queued", "running"}
        if self.run.status == RunStatus.COMPLETED:
            assert self.run.deliverables.filter(is_final=False).count() == 0

    def _check_freshness(self) -> None:
        """No result is older than what it was made of, but for alice's own; ids are in the order
        of time."""
        done = {
            row.key: row.current
            for row in self.run.subtasks.filter(status="completed").select_related("current")
            if row.current is not None
        }
        for row in self.run.subtasks.filter(key__in=done):
            result = done[row.key]
            if result.reason != AttemptReason.REPLACE:
                assert all(done[key].pk < result.pk for key in row.depends_on)
        if self.run.status == RunStatus.COMPLETED and self.run.subtasks.count() > 1:
            final = self.run.steps.filter(kind=StepKind.FINAL, outcome="done").latest("id")
            assert all(result.pk < final.pk for result in done.values())

    def _check_calls(self) -> None:
        """The calls of a turn are carried out all at once, once, and told; and what the author of
        the current attempt has written is there."""
        carried_out, written = 0, dict[UUID, set[str]]()
        for step in self.run.steps.filter(kind=StepKind.WORK).order_by("id"):
            calls = read_calls(step.result)
            assert len({call.result is None for call in calls}) <= 1
            done = [call for call in calls if call.result is not None]
            carried_out += len(done)
            before = written.get(step.continues_id or step.pk, set())
            written[step.pk] = before | {
                json.loads(call.arguments)["path"]
                for call in done
                if call.name == "write_file" and call.result is not None and call.result.ok
            }
            if step.attempt_id is not None and step.outcome == "done" and not step.goes_on:
                paths = AttemptFile.objects.filter(attempt=step.attempt_id)
                assert written[step.pk] <= set(paths.values_list("path", flat=True))
        told = Event.objects.filter(stream=self.run.pk, type="subtask.tool")
        assert told.count() == carried_out

    def _check_money(self) -> None:
        assert reconciliation.find_violations() == []
        check_budget(self.run)


def check_decided(run: Run) -> None:
    """Nothing is left to do, and somebody is at work in a run that runs."""
    state = state_of(run, newest=newest_number(run.pk))
    assert decide(state) == []
    if run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        assert state.active
    if run.status == RunStatus.PAUSED:
        assert run.pause_reason


def check_budget(run: Run) -> None:
    """What was billed, and is held, is within the run's budget, if it has one."""
    if run.budget is not None:
        group = ChargeGroup.objects.get(pk=run.pk)
        assert group.budget == run.budget
        assert group.billed + group.held <= group.budget


def _arguments(arguments: dict[str, Any], step: Step) -> str:
    """Nobody else writes the same content."""
    content = {"content": str(step.pk)} if "content" in arguments else {}
    return json.dumps(arguments | content)


def _checkout(account: User) -> Checkout:
    """A repository whose only file is shown to all."""
    return Checkout(
        account=account,
        workspace_id=uuid7(),
        provider=HostKind.GITHUB,
        repository="alice/sea",
        url="https://github.com/alice/sea",
        branch="main",
        default_branch="main",
        commit="0" * 40,
        listing=pack([Entry("README.md", FILE, "1" * 40, 6)]),
        digest="README.md",
        has_symbols=True,
    )


def check_log(run: Run) -> None:
    """The events, applied one after the other, give what the API answers."""
    drawn = picture.NOTHING
    for row in Event.objects.filter(stream=run.pk).order_by("seq"):
        event = {"seq": row.seq, "type": row.type, "data": json.loads(row.data)}
        drawn = picture.apply(drawn, event)
    shown = json.loads(JSONRenderer().render(RunSerializer(snapshot_of(run)).data))
    assert drawn == shown
