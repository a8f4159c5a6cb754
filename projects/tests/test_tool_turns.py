"""The turns of an author that calls functions, as they are sent to its model again."""

import json
from uuid import UUID

import pytest
from msgspec.structs import replace

from ai.catalog.selectors import get_catalog
from ai.providers.types import Message
from billing.models import ChargeGroup
from projects.author_tools.calls import FEW_CALLS, MAX_CALLS, StoredCall
from projects.author_tools.results import Carried
from projects.models import Run, Step
from projects.prompts.continuing import GO_ON
from projects.prompts.tool_working import FINISH_NOW, LEFT_OUT, TAKEN_OVER
from projects.selectors.prompts import Asked, ask
from projects.selectors.tool_turns import Turn, conversation, functions_for, since_calls
from projects.tests.world import World

ROOM = 100_000


def call(number: int, *, arguments: str = "{}", result: str = "Found.") -> StoredCall:
    return StoredCall(f"call-{number}", "search", arguments, Carried(True, result, "found"))


def turn(number: int, text: str = "", *calls: StoredCall) -> Turn:
    return Turn(UUID(int=number), "gpt-6-luna", text, list(calls))


def sent(*turns: Turn, room: int = ROOM, is_last: bool = False) -> list[Message]:
    return conversation(turns, "gpt-6-luna", room=room, is_last=is_last)


def test_calls_come_with_their_results_and_text_that_was_cut_is_joined_before_them() -> None:
    messages = sent(turn(1, "I loo"), turn(2, "k.", call(1), call(2)), turn(3, "", call(3)))
    assert [(each.role, each.text) for each in messages] == [
        ("assistant", "I look."),
        ("tool", "Found."),
        ("tool", "Found."),
        ("assistant", ""),
        ("tool", "Found."),
    ]
    assert [each.id for each in messages[0].tool_calls] == ["call-1", "call-2"]
    assert [each.tool_call_id for each in messages[1:3]] == ["call-1", "call-2"]


def test_an_answer_in_words_that_was_cut_is_continued() -> None:
    turns = (turn(1, "", call(1)), turn(2, "The s"), turn(3, "ea"))
    messages = sent(*turns)
    assert [each.text for each in messages[-2:]] == ["The sea", GO_ON]
    assert [each.text for each in since_calls(turns)] == ["The s", "ea"]
    assert since_calls(turns[:1]) == []


def test_the_newest_result_says_how_many_calls_are_left() -> None:
    many = [call(number) for number in range(MAX_CALLS - FEW_CALLS)]
    assert sent(turn(1, "", *many[1:]))[-1].text == "Found."
    assert sent(turn(1, "", *many))[-1].text.endswith(
        f"[{FEW_CALLS} calls left. Then you have to finish.]"
    )
    last = sent(turn(1, "", call(1)), is_last=True)[-1]
    assert last.text.endswith(FINISH_NOW)
    assert [each.name for each in functions_for(is_last=True).functions] == ["finish"]
    assert len(functions_for(is_last=False).functions) == 8


def test_who_goes_on_in_the_place_of_another_author_has_calls_of_its_own() -> None:
    turns = [turn(1, "", *map(call, range(MAX_CALLS)))]
    taken_over = conversation(turns, "claude-haiku-5-5", room=ROOM, is_last=False)
    assert taken_over[-1].text == f"Found.\n\n{TAKEN_OVER}"
    own = replace(turns[0], model="claude-haiku-5-5", calls=[call(1)])
    gone_on = conversation([*turns, own], "claude-haiku-5-5", room=ROOM, is_last=False)
    assert gone_on[-1].text == "Found."


def test_the_oldest_results_are_left_out_for_want_of_room() -> None:
    turns = [turn(number, "", call(number, result="x" * 30_000)) for number in range(5)]
    results = [each.text for each in sent(*turns) if each.role == "tool"]
    assert results == [LEFT_OUT, LEFT_OUT, *["x" * 30_000] * 3]


def test_long_texts_that_were_written_are_left_out_after_that() -> None:
    written = json.dumps({"path": "a.md", "content": "x" * 60_000})
    turns = [turn(number, "", call(number, arguments=written)) for number in range(3)]
    asked = [json.loads(each.tool_calls[0].arguments) for each in sent(*turns) if each.tool_calls]
    assert [each["path"] for each in asked] == ["a.md"] * 3
    assert [len(each["content"]) for each in asked] == [18, 18, 60_000]


def test_arguments_that_are_no_object_are_sent_as_an_empty_one() -> None:
    broken = [
        call(1, arguments='{"path": "a'),
        call(2, arguments="[1]"),
        call(3, arguments="[" * 9),
    ]
    asked = sent(turn(1, "", *broken))[0].tool_calls
    assert [each.arguments for each in asked] == ["{}"] * 3


# --- Means ----------------------------------------------------------------------------------------


@pytest.fixture
def world() -> World:
    """A run on a repository with a plan, and a budget."""
    world = World(max_parallel=1, budget_usd=40, approve_plan=False, on_repository=True)
    world.end(0, "good")
    return world


def leave(world: World, nano_usd: int) -> None:
    """So much is left of the budget beside what was billed and is held."""
    group = ChargeGroup.objects.get(pk=world.run.pk)
    group.budget = group.billed + group.held + nano_usd
    group.save(update_fields=["budget"])


def asked_next(world: World) -> Asked:
    """What the author would be asked now."""
    step = world.active()[0]
    step.run = Run.objects.get(pk=world.run.pk)
    return ask(step, get_catalog().models[step.model])


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_an_author_finishes_when_one_more_turn_can_be_paid_and_not_two(world: World) -> None:
    world.end(0, "calls")
    world.begin(0)
    assert asked_next(world).is_last is False
    leave(world, 1_000)
    last = asked_next(world)
    assert last.is_last
    assert last.tools is not None
    assert [each.name for each in last.tools.functions] == ["finish"]
    assert last.messages[-1].text.endswith(FINISH_NOW)


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_an_author_that_can_be_paid_one_turn_alone_answers_in_words(world: World) -> None:
    assert asked_next(world).tools is not None
    leave(world, 1_000)
    asked = asked_next(world)
    assert asked.tools is None
    assert "@@OLD" in asked.messages[0].text


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_an_author_finishes_when_its_user_allows_no_more_words(world: World) -> None:
    world.end(0, "calls")
    Run.objects.filter(pk=world.run.pk).update(max_output_tokens=1_000)
    assert asked_next(world).is_last


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_an_author_whose_calls_are_used_up_finishes_and_another_one_does_not(world: World) -> None:
    world.end(0, "calls")
    step = world.active()[0]
    turn = Step.objects.get(run=world.run, goes_on=True)
    turn.result["calls"] *= MAX_CALLS
    turn.save()
    assert asked_next(world).is_last
    Step.objects.filter(pk=step.pk).update(model="deepseek-v4-pro")
    another = asked_next(world)
    assert (turn.model == "deepseek-v4-pro", another.is_last) == (False, False)
    assert another.messages[-1].text.endswith(TAKEN_OVER)
