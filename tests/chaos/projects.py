"""Project runs for tests of what goes wrong, each step marked in the simulator's journal."""

import json
from bisect import bisect
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.management import call_command
from django.db.models import QuerySet

from accounts.models import User
from billing.models import Charge
from billing.tests import bank
from common.ids import uuid7
from events.models import Event
from projects.models import Run, Step
from projects.services import messages, runs
from projects.tests.world import check_budget
from projects.types import MAX_PARALLEL, MAX_SUBTASKS
from simulator.process import RunningSimulator
from tests.personas import new_user

KINDS = ("plan", "work", "review", "reply", "final")
PLAN = {
    "subtasks": [
        {"key": "a", "title": "Part a", "instructions": "Write a.", "acceptance": ["Is there."]},
        {"key": "b", "title": "Part b", "instructions": "Write b.", "depends_on": ["a"]},
    ]
}


class Project:
    """A run of alice's with two subtasks, one after the other. `by_step` steers the simulator in
    the steps of a kind. Who makes it needs the fixture `providers`."""

    def __init__(self, **by_step: dict[str, Any]) -> None:
        self.alice: User = new_user("alice", plan="max", balance_usd=50)
        self.marker = uuid7().hex
        lines: list[dict[str, Any]] = [
            {"step": kind, "marker": f"{self.marker}-{kind}", **by_step.get(kind, {})}
            for kind in KINDS
        ]
        lines[0].setdefault("text", json.dumps(PLAN))
        self.run, _ = runs.start(
            user=self.alice,
            request_key=None,
            goal="\n@sim ".join(["Write about the sea.", *map(json.dumps, lines)]),
            planner_model="gpt-6-luna",
            max_subtasks=MAX_SUBTASKS,
            max_parallel=MAX_PARALLEL,
            **self.options(),
        )

    def options(self) -> dict[str, Any]:
        """More options of the run."""
        return {}

    def ask_for(self, kind: str) -> None:
        """See to it that there is a step of that kind: the planner replies to a message only."""
        if kind == "reply":
            messages.send(user=self.alice, run_id=self.run.pk, content="Mind the whales.")

    def calls(self, simulator: RunningSimulator, kind: str) -> list[dict[str, Any]]:
        """What the providers say they were asked in the steps of that kind, in order."""
        return simulator.calls(f"{self.marker}-{kind}")

    def running(self, kind: str) -> bool:
        """Has a step of that kind been asked for, without an answer?"""
        active = self.steps(kind).filter(status="running", ended_at=None)
        return active.exclude(first_seq=None).exists()

    def begun(self, kind: str) -> bool:
        """Is there a step of that kind, whether or not a worker has it?"""
        return self.steps(kind).exists()

    def done(self, kind: str) -> bool:
        """Has a step of that kind ended?"""
        return self.steps(kind).exclude(ended_at=None).exists()

    def reload(self) -> Run:
        """The run as it is now, with its rows."""
        self.run = Run.objects.get(pk=self.run.pk)
        return self.run

    def has_ended(self) -> bool:
        return self.reload().ended_at is not None

    def steps(self, kind: str) -> QuerySet[Step]:
        """Those of that kind, in order."""
        return Step.objects.filter(run=self.run, kind=kind).order_by("id")

    def outcomes(self, kind: str) -> list[str]:
        """Of the steps of that kind, in order."""
        return list(self.steps(kind).values_list("outcome", flat=True))

    def events(self, event_type: str) -> int:
        return Event.objects.filter(stream=self.run.pk, type=event_type).count()

    def check_money(self, simulator: RunningSimulator) -> None:
        """Each call of the journal has a charge of its own, which bills what the call has brought;
        nothing is held, and the budget is kept."""
        kinds = dict(Step.objects.filter(run=self.run).values_list("pk", "kind"))
        charges = Charge.objects.filter(account=self.alice).order_by("admitted_at")
        for kind in KINDS:
            of_kind = [charge for charge in charges if kinds[charge.pk] == kind]
            check_billed(of_kind, self.calls(simulator, kind))
        assert bank.wallet_of(self.alice).held == 0
        check_budget(self.reload())
        call_command("reconcile")


def check_billed(charges: Sequence[Charge], calls: Sequence[dict[str, Any]]) -> None:
    """Of calls that were made one after the other, each belongs to the charge that was admitted
    last before it. A worker may die between a hold and its call, or before it has noted anything
    of the answer: then the charge is released."""
    made: list[list[dict[str, Any]]] = [[] for _ in charges]
    begun = [charge.admitted_at for charge in charges]
    for call in calls:
        before = bisect(begun, datetime.fromtimestamp(call["started_at"], UTC))
        assert before, "it was called before anything was held"
        made[before - 1].append(call)
    for charge, own in zip(charges, made, strict=True):
        assert charge.status in ("settled", "expired", "released")
        if charge.status == "released":
            assert len(own) <= 1
            continue
        [call] = own
        tokens = call["tokens_emitted"] + call["reasoning_emitted"]
        if charge.status == "settled" and charge.failure is None:
            assert (charge.tokens_in, charge.tokens_out) == (call["prompt_tokens"], tokens)
        else:
            # Nobody has counted them: an estimated token has a byte at least.
            assert charge.tokens_out <= call["bytes_emitted"]
