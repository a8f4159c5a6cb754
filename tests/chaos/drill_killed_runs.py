"""The worker is killed before, in and after each kind of step of a project run: the step begins
again, once, and the run goes on. A second death in one step pauses the run."""

import time
from collections.abc import Callable

import pytest

from billing.services import sweeps
from billing.tests import bank
from projects.models import Step
from projects.services import messages, runs
from simulator.process import RunningSimulator
from tests.chaos.projects import KINDS, Project
from tests.worker import running_worker
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed", "providers")

# The provider says five words and falls silent.
SILENT = {"hang": True, "after_tokens": 5}


def sweep() -> None:
    """As if the time had passed in which nobody renewed a lease."""
    with bank.no_process_lives():
        for _ in range(2):
            sweeps.expire_lapsed_charges()
            end_lost_jobs()


def with_message(project: Project, kind: str) -> Project:
    """The project, with a message of its user where the step is the planner's reply."""
    if kind == "reply":
        messages.send(user=project.alice, run_id=project.run.pk, content="Mind the whales.")
    return project


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_whose_worker_died_begins_again_and_the_run_goes_on(
    simulator: RunningSimulator, kind: str
) -> None:
    project = with_message(Project(**{kind: {**SILENT, "times": 1}}), kind)
    with running_worker(simulator) as doomed:
        wait_until(lambda: project.running(kind), seconds=20)
        wait_until(lambda: bool(simulator.calls(f"{project.marker}-{kind}")))
        doomed.kill()
    sweep()

    with running_worker(simulator):
        wait_until(project.has_ended, seconds=30)

    assert project.run.status == "completed"
    assert project.outcomes(kind)[:2] == ["lost", "done"]
    lost = Step.objects.filter(run=project.run, outcome="lost")
    assert project.events("run.recovered") == lost.count()
    project.check_money(simulator)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", ["begun", "done"])
def test_a_worker_that_dies_before_or_after_a_step_loses_no_step(
    simulator: RunningSimulator, kind: str, moment: str
) -> None:
    project = with_message(Project(), kind)
    with running_worker(simulator) as doomed:
        wait_closely(lambda: getattr(project, moment)(kind))
        doomed.kill()
    sweep()

    with running_worker(simulator):
        wait_until(project.has_ended, seconds=30)

    assert project.run.status == "completed"
    outcomes = project.outcomes(kind)
    assert set(outcomes) <= {"done", "lost"}
    # Two subtasks are worked on and reviewed; of the other steps there is one.
    expected = 2 if kind in ("work", "review") else 1
    assert (outcomes.count("done"), outcomes.count("lost") <= 1) == (expected, True)
    project.check_money(simulator)


def wait_closely(what: Callable[[], bool]) -> None:
    """Wait for something that is soon over: ask again at once."""
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"


def test_a_second_death_at_one_step_pauses_the_run(simulator: RunningSimulator) -> None:
    project = Project(work={**SILENT, "times": 2})
    for _ in range(2):
        with running_worker(simulator) as doomed:
            wait_until(lambda: project.running("work"), seconds=20)
            doomed.kill()
        sweep()
    assert (project.reload().status, project.run.pause_reason) == ("paused", "interrupted")
    runs.resume(user=project.alice, run_id=project.run.pk)
    with running_worker(simulator):
        wait_until(project.has_ended, seconds=30)
    assert project.run.status == "completed"
    project.check_money(simulator)


def test_a_run_that_waits_in_the_queue_needs_no_worker_to_stay(
    simulator: RunningSimulator,
) -> None:
    project = Project()
    sweep()
    assert project.reload().status == "queued"
    with running_worker(simulator):
        wait_until(project.has_ended, seconds=30)
    assert project.run.status == "completed"
    project.check_money(simulator)
