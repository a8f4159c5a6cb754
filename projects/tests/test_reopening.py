"""A run that has ended goes on by an act of its user: a message, another plan, another model."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from events.models import Event
from projects.errors import ApplyInProgress, RunLimitReached
from projects.models import Apply, Run
from projects.selectors.messages import messages_of
from projects.selectors.runs import snapshot_of
from projects.services import edits, messages, runs, subtasks
from projects.tests.world import World
from projects.types import PauseReason, RunStatus, StepKind

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]

ADDED = {"key": "x", "title": "X", "instructions": "Write."}
REOPENING = ["message", "plan", "reassign", "replace"]


@pytest.fixture
def world() -> World:
    """A run that has completed."""
    world = World(max_parallel=4, budget_usd=None, approve_plan=False)
    go_to_the_end(world)
    return world


def go_to_the_end(world: World) -> None:
    while world.active():
        world.end(0, "good")
    world.check()
    assert world.run.status == RunStatus.COMPLETED


def acts(world: World) -> dict[str, Callable[[], object]]:
    """What its user may do to a run that has ended, by name."""
    whose: dict[str, Any] = {"user": world.alice, "run_id": world.run.pk}
    first = world.run.subtasks.order_by("position")[0].pk
    return {
        "message": lambda: messages.send(**whose, content="Mind the whales."),
        "plan": lambda: edits.edit_plan(**whose, changes={"add": [ADDED]}),
        "reassign": lambda: subtasks.reassign(**whose, subtask_id=first, model="gpt-6-luna"),
        "replace": lambda: subtasks.replace(**whose, subtask_id=first, content="Mine."),
        "resume": lambda: runs.resume(**whose),
    }


def finals(world: World) -> int:
    return world.run.steps.filter(kind=StepKind.FINAL).count()


def test_an_answer_in_words_leaves_a_completed_run_as_it_was(world: World) -> None:
    before = snapshot_of(world.run)
    acts(world)["message"]()
    assert Run.objects.get(pk=world.run.pk).status == RunStatus.RUNNING
    [reply] = world.active()
    assert reply.kind == StepKind.REPLY
    go_to_the_end(world)
    after = snapshot_of(world.run)
    assert finals(world) == 1
    assert [each.role for each in messages_of(world.run)] == ["user", "planner"]
    assert after.final_text == before.final_text == "All of it."
    assert [each.version for each in after.deliverables] == [1] * len(after.deliverables)
    assert after.cost == before.cost + 2_000_000, "what the answer has cost"
    log = Event.objects.filter(stream=world.run.pk, seq__gt=before.last_seq).order_by("seq")
    types = list(log.values_list("type", flat=True))
    assert (types[0], types[-1]) == ("run.reopened", "run.completed")


@pytest.mark.parametrize("act", ["plan", "replace"])
def test_what_changes_its_parts_has_the_final_text_written_again(world: World, act: str) -> None:
    acts(world)[act]()
    assert snapshot_of(world.run).final_text == "All of it.", "until the next one is written"
    go_to_the_end(world)
    assert finals(world) == 2


def test_a_run_that_was_finished_without_some_parts_is_asked_of_them_again() -> None:
    """By an answer in words it ends as it was. Where more is to be done, what is missing counts."""
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    while world.run.deliverables.count() < 2:
        world.end(0, "good")
    world.act("finish", 0)
    go_to_the_end(world)
    acts(world)["message"]()
    go_to_the_end(world)
    acts(world)["plan"]()
    while world.active():
        world.end(0, "good")
    world.check()
    assert (world.run.status, world.run.pause_reason) == ("paused", "step_failed")
    assert world.run.subtasks.get(key="x").status == "completed"


def test_a_run_that_goes_on_counts_among_those_that_run(world: World) -> None:
    others = [
        Run.objects.create(
            account=world.alice,
            goal="Land.",
            status=RunStatus.RUNNING,
            planner_model="gpt-6-luna",
            max_subtasks=1,
            max_parallel=1,
        )
        for _ in range(3)
    ]
    for act in REOPENING:
        with pytest.raises(RunLimitReached):
            acts(world)[act]()
    assert messages_of(world.run) == []
    Run.objects.filter(pk=others[0].pk).update(status=RunStatus.PAUSED)
    acts(world)["message"]()


def test_nothing_goes_on_while_its_changes_are_being_written(world: World) -> None:
    soon = timezone.now() + timedelta(seconds=90)
    order = Apply.objects.create(
        run=world.run, target="branch", branch="ai/x", message="Sea", claim_until=soon
    )
    refused(world, *REOPENING)
    Run.objects.filter(pk=world.run.pk).update(
        status=RunStatus.PAUSED, pause_reason=PauseReason.USER
    )
    refused(world, "message", "resume")
    Apply.objects.filter(pk=order.pk).update(ended_at=timezone.now())
    acts(world)["resume"]()


def refused(world: World, *names: str) -> None:
    """Each of these acts has to wait for the order that is being carried out."""
    for name in names:
        with pytest.raises(ApplyInProgress) as refusal:
            acts(world)[name]()
        assert refusal.value.retry_after in range(80, 91)
