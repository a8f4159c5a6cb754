"""The worker is killed between the calls of an author's functions: the turn in its hands begins
again, once, no call is carried out twice, and each call to the provider is billed once."""

import json
from typing import Any

import pytest

from events.models import Event
from integrations.githosts.tests.hosted import Hosted
from integrations.githosts.types import HostKind
from integrations.workspaces.services import workspaces
from projects.models import AttemptFile, Step
from projects.services import runs
from simulator.process import RunningSimulator
from tests.chaos.killing import kill_a_worker_when
from tests.chaos.projects import Project
from tests.worker import running_worker
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed", "providers")

WRITES = tuple(
    {"name": "write_file", "arguments": {"path": f"f{n}.md", "content": f"{n}"}} for n in range(5)
)
APPENDS = tuple(
    {"name": "edit_file", "arguments": {"path": "f0.md", "old": f"{n}\n", "new": f"{n}\n{n + 1}\n"}}
    for n in range(4)
)


class RepositoryProject(Project):
    """Alice's run on a repository."""

    def __init__(self, simulator: RunningSimulator, **by_step: dict[str, Any]) -> None:
        self.hosted = Hosted.create(simulator, HostKind.GITHUB)
        super().__init__(**by_step)

    def options(self) -> dict[str, Any]:
        workspace = workspaces.connect(
            user=self.alice,
            provider=HostKind.GITHUB,
            token=self.hosted.token,
            base_url=self.hosted.base_url,
        )
        return {"workspace_id": workspace.pk, "repository": self.hosted.repository}

    def works(self) -> list[Step]:
        return list(Step.objects.filter(run=self.run, kind="work").order_by("id"))

    def made(self) -> list[dict[str, Any]]:
        """The calls of all turns that were carried out, as their events tell them."""
        rows = Event.objects.filter(stream=self.run.pk, type="subtask.tool").order_by("seq")
        return [json.loads(row.data) for row in rows]


@pytest.mark.parametrize("turn", range(1, 7))
def test_a_worker_that_dies_in_a_loop_loses_one_turn_and_nothing_else(
    simulator: RunningSimulator, turn: int
) -> None:
    """Edits that were carried out twice would not fit."""
    slow = {"calls": (WRITES[0], *APPENDS), "ttft_ms": 300}
    project = RepositoryProject(simulator, work=slow)
    kill_a_worker_when(simulator, lambda: len(project.works()) >= turn and project.running("work"))

    with running_worker(simulator):
        wait_until(project.has_ended, seconds=60)

    assert project.run.status == "completed"
    assert project.outcomes("work").count("lost") == 1
    first = project.run.subtasks.get(key="a").current
    assert first is not None
    assert first.files.get(path="f0.md").content == "0\n1\n2\n3\n4\n"
    made = [each for each in project.made() if each["subtask_id"] == str(first.subtask_id)]
    assert [each["call"] for each in made] == [*range(1, len(made) + 1)]
    assert all(each["ok"] for each in made)
    assert AttemptFile.objects.filter(attempt=first).count() == 1
    project.check_money(simulator)


def test_a_run_that_is_paused_in_a_loop_goes_on_where_it_was(simulator: RunningSimulator) -> None:
    project = RepositoryProject(simulator, work={"calls": WRITES, "ttft_ms": 200})
    with running_worker(simulator):
        wait_until(lambda: len(project.works()) >= 3, seconds=30)
        runs.pause_run(user=project.alice, run_id=project.run.pk)
        wait_until(lambda: not project.run.steps.filter(ended_at=None).exists(), seconds=20)
        paused = len(project.made())
        runs.resume(user=project.alice, run_id=project.run.pk)
        wait_until(project.has_ended, seconds=60)
    assert project.run.status == "completed"
    assert 0 < paused < len(WRITES)
    first = project.run.subtasks.get(key="a").current
    assert first is not None
    assert sorted(first.files.values_list("path", flat=True)) == [f"f{n}.md" for n in range(5)]
    assert first.number == 1
    project.check_money(simulator)
