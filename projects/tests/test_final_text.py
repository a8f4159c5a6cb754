"""The final text is made of the newest results, whatever changes while it is written."""

import pytest

from projects.models import Step
from projects.services import edits
from projects.tests.world import World
from projects.types import RunStatus, StepKind

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]


@pytest.fixture
def world() -> World:
    """A run whose final text is being written."""
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    while not finals(world, ended_at=None):
        world.end(0, "good")
    [final] = world.active()
    assert world.begin(0) == final
    return world


def finals(world: World, **fields: object) -> list[Step]:
    return list(world.run.steps.filter(kind=StepKind.FINAL, **fields).order_by("id"))


def go_to_the_end(world: World) -> None:
    while world.active():
        world.end(0, "good")
    world.check()
    assert world.run.status == RunStatus.COMPLETED


def is_written_last(world: World) -> bool:
    """Has the newest final text begun after all other steps had ended?"""
    newest = world.run.steps.latest("id")
    return newest.kind == StepKind.FINAL and newest.outcome == "done"


def test_a_final_text_that_is_done_ends_the_run(world: World) -> None:
    go_to_the_end(world)
    assert len(finals(world)) == 1


@pytest.mark.parametrize("act", ["add", "reassign", "replace"])
@pytest.mark.parametrize("fate", ["good", "breaks off", "dies"])
def test_one_that_is_being_written_is_written_again_with_another_result(
    world: World, act: str, fate: str
) -> None:
    """Also where it could not be stopped in time, and is done."""
    world.act(act, 0)
    world.end(0, fate)
    go_to_the_end(world)
    assert len(finals(world)) == 2
    assert is_written_last(world)


def test_one_that_is_written_is_written_again_with_another_subtask(world: World) -> None:
    world.act("message", 0)
    world.end(0, "good")
    [reply] = world.active()
    assert reply.kind == StepKind.REPLY, "which the run waits for"
    world.act("add", 0)
    go_to_the_end(world)
    assert len(finals(world)) == 2
    assert is_written_last(world)


def test_one_is_written_again_by_other_instructions_and_not_for_other_words(world: World) -> None:
    edits.edit_plan(user=world.alice, run_id=world.run.pk, changes={"title": "Whales"})
    edits.edit_plan(user=world.alice, run_id=world.run.pk, changes={"order": ["e"]})
    [step] = world.active()
    assert step in finals(world)
    edits.edit_plan(user=world.alice, run_id=world.run.pk, changes={"final_instructions": "Brief."})
    go_to_the_end(world)
    assert len(finals(world)) == 2
