"""The worker is killed in each kind of step of a project run: the step begins again, once, and the
run goes on. A second death pauses the run."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from accounts.models import User
from billing.models import Charge
from billing.services import sweeps
from billing.tests import bank
from common.ids import uuid7
from events.models import Event
from jobs.sweeps import end_lost_jobs
from jobs.tests.queueing import wait_until
from projects.models import Run, Step
from projects.services import messages, runs
from projects.types import MAX_PARALLEL, MAX_SUBTASKS
from providers.config import SIMULATED_BY_DEFAULT, from_environ
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")

KINDS = ("plan", "work", "review", "reply", "final")
PLAN = {
    "subtasks": [
        {"key": "a", "title": "Part a", "instructions": "Write a.", "acceptance": ["Is there."]},
        {"key": "b", "title": "Part b", "instructions": "Write b.", "depends_on": ["a"]},
    ]
}


@pytest.fixture(autouse=True)
def providers(settings: Settings) -> None:
    """Providers as the service has them: the runs are begun in this process."""
    settings.PROVIDERS = from_environ(
        {}, simulated=SIMULATED_BY_DEFAULT, simulator_url="http://127.0.0.1:9"
    )


class Project:
    """A run of alice's. The provider falls silent in the first steps of the kind `silent`."""

    def __init__(self, silent: str, *, times: int = 1) -> None:
        self.alice: User = new_user("alice", plan="max", balance_usd=50)
        self.marker = uuid7().hex
        lines: list[dict[str, Any]] = [
            {"step": kind, "marker": f"{self.marker}-{kind}"} for kind in KINDS
        ]
        lines[0]["text"] = json.dumps(PLAN)
        for line in lines:
            if line["step"] == silent:
                line.update(hang=True, after_tokens=5, times=times)
        goal = "\n@sim ".join(["Write about the sea.", *map(json.dumps, lines)])
        self.run, _ = runs.start(
            user=self.alice,
            request_key=None,
            goal=goal,
            planner_model="gpt-6-luna",
            max_subtasks=MAX_SUBTASKS,
            max_parallel=MAX_PARALLEL,
        )

    def running(self, kind: str) -> bool:
        """Has a step of that kind been asked for, without an answer?"""
        active = Step.objects.filter(run=self.run, kind=kind, status="running", ended_at=None)
        return active.exclude(first_seq=None).exists()

    def reload(self) -> Run:
        self.run.refresh_from_db()
        return self.run

    def events(self, event_type: str) -> int:
        return Event.objects.filter(stream=self.run.pk, type=event_type).count()

    def check_money(self, simulator: RunningSimulator) -> None:
        """Each call of the journal was billed once at most, and nothing is held."""
        steps = Step.objects.filter(run=self.run)
        charges = list(Charge.objects.filter(account=self.alice))
        assert {charge.pk for charge in charges} <= {step.pk for step in steps}
        assert {charge.status for charge in charges} <= {"settled", "expired", "released"}
        calls = sum(len(simulator.calls(f"{self.marker}-{kind}")) for kind in KINDS)
        assert len(charges) == calls
        assert bank.wallet_of(self.alice).held == 0
        call_command("reconcile")


def sweep() -> None:
    """As if the time had passed in which nobody renewed a lease."""
    with bank.no_process_lives():
        for _ in range(2):
            sweeps.expire_lapsed_charges()
            end_lost_jobs()


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_whose_worker_died_begins_again_and_the_run_goes_on(
    simulator: RunningSimulator, kind: str
) -> None:
    project = Project(kind)
    if kind == "reply":
        messages.send(user=project.alice, run_id=project.run.pk, content="Mind the whales.")
    with running_worker(simulator) as doomed:
        wait_until(lambda: project.running(kind), seconds=20)
        wait_until(lambda: bool(simulator.calls(f"{project.marker}-{kind}")))
        doomed.kill()
    sweep()

    with running_worker(simulator):
        wait_until(lambda: project.reload().ended_at is not None, seconds=30)

    assert project.run.status == "completed"
    steps = Step.objects.filter(run=project.run).order_by("id")
    assert [step.outcome for step in steps.filter(kind=kind)][:2] == ["lost", "done"]
    assert project.events("run.recovered") == steps.filter(outcome="lost").count()
    project.check_money(simulator)


def test_a_second_death_at_one_step_pauses_the_run(simulator: RunningSimulator) -> None:
    project = Project("work", times=2)
    for _ in range(2):
        with running_worker(simulator) as doomed:
            wait_until(lambda: project.running("work"), seconds=20)
            doomed.kill()
        sweep()
    assert (project.reload().status, project.run.pause_reason) == ("paused", "interrupted")
    runs.resume(user=project.alice, run_id=project.run.pk)
    with running_worker(simulator):
        wait_until(lambda: project.reload().ended_at is not None, seconds=30)
    assert project.run.status == "completed"
    project.check_money(simulator)


def test_a_run_that_waits_in_the_queue_needs_no_worker_to_stay(
    simulator: RunningSimulator,
) -> None:
    project = Project("none")
    sweep()
    assert project.reload().status == "queued"
    with running_worker(simulator):
        wait_until(lambda: project.reload().ended_at is not None, seconds=30)
    assert project.run.status == "completed"
    project.check_money(simulator)
