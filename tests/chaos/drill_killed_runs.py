"""The worker is killed before, in and after each kind of step of a project run: the step begins
again, once, and the run goes on. A second death in one step pauses the run."""

import pytest

from projects.models import Step
from projects.services import runs
from simulator.process import RunningSimulator
from tests.chaos.killing import kill_a_worker_when, sweep
from tests.chaos.projects import KINDS, Project
from tests.worker import running_worker
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed", "providers")

# The provider says five words and falls silent.
SILENT = {"hang": True, "after_tokens": 5}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_whose_worker_died_begins_again_and_the_run_goes_on(
    simulator: RunningSimulator, kind: str
) -> None:
    project = Project(**{kind: {**SILENT, "times": 1}})
    project.ask_for(kind)
    kill_a_worker_when(
        simulator,
        lambda: project.running(kind) and project.calls(simulator, kind),
    )

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
    project = Project()
    project.ask_for(kind)
    kill_a_worker_when(simulator, lambda: getattr(project, moment)(kind))

    with running_worker(simulator):
        wait_until(project.has_ended, seconds=30)

    assert project.run.status == "completed"
    outcomes = project.outcomes(kind)
    assert set(outcomes) <= {"done", "lost"}
    # Two subtasks are worked on and reviewed; of the other steps there is one.
    expected = 2 if kind in ("work", "review") else 1
    assert (outcomes.count("done"), outcomes.count("lost") <= 1) == (expected, True)
    project.check_money(simulator)


def test_a_second_death_at_one_step_pauses_the_run(simulator: RunningSimulator) -> None:
    project = Project(work={**SILENT, "times": 2})
    for number in (1, 2):
        kill_a_worker_when(
            simulator,
            lambda: project.running("work") and len(project.calls(simulator, "work")) == number,  # noqa: B023
        )
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
