"""Project runs for tests of what goes wrong, each step marked in the simulator's journal."""

import json
from typing import Any

from django.core.management import call_command

from accounts.models import User
from billing.models import Charge
from billing.tests import bank
from common.ids import uuid7
from events.models import Event
from projects.models import Run, Step
from projects.services import runs
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
        lines[0]["text"] = json.dumps(PLAN)
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

    def running(self, kind: str) -> bool:
        """Has a step of that kind been asked for, without an answer?"""
        active = Step.objects.filter(run=self.run, kind=kind, status="running", ended_at=None)
        return active.exclude(first_seq=None).exists()

    def begun(self, kind: str) -> bool:
        """Is there a step of that kind, whether or not a worker has it?"""
        return Step.objects.filter(run=self.run, kind=kind).exists()

    def done(self, kind: str) -> bool:
        """Has a step of that kind ended?"""
        return Step.objects.filter(run=self.run, kind=kind).exclude(ended_at=None).exists()

    def reload(self) -> Run:
        self.run.refresh_from_db()
        return self.run

    def has_ended(self) -> bool:
        return self.reload().ended_at is not None

    def outcomes(self, kind: str) -> list[str]:
        """Of the steps of that kind, in order."""
        steps = Step.objects.filter(run=self.run, kind=kind).order_by("id")
        return list(steps.values_list("outcome", flat=True))

    def events(self, event_type: str) -> int:
        return Event.objects.filter(stream=self.run.pk, type=event_type).count()

    def check_money(self, simulator: RunningSimulator) -> None:
        """Each call of the journal was billed once at most, and nothing is held."""
        steps = Step.objects.filter(run=self.run)
        charges = list(Charge.objects.filter(account=self.alice))
        assert {charge.pk for charge in charges} <= {step.pk for step in steps}
        assert {charge.status for charge in charges} <= {"settled", "expired", "released"}
        calls = sum(len(simulator.calls(f"{self.marker}-{kind}")) for kind in KINDS)
        # A worker may die between a hold and its call.
        released = sum(charge.status == "released" for charge in charges)
        assert len(charges) - released <= calls <= len(charges)
        assert bank.wallet_of(self.alice).held == 0
        call_command("reconcile")
