"""What a call keeps of the deltas that its only reader has taken."""

import tracemalloc
from uuid import uuid4

import pytest

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference.chat import ChatRunner
from ai.inference.types import ChatCall
from ai.provider_health.services import permit_of
from ai.providers.types import Delta, Message, ReasoningDelta, TextDelta, ToolCall, ToolCallDelta

pytestmark = pytest.mark.django_db


@pytest.fixture
def luna() -> Model:
    model = get_catalog().find("gpt-6-luna")
    assert model is not None
    return model


@pytest.fixture
async def runner(luna: Model) -> ChatRunner:
    call = ChatCall(
        account_id=uuid4(),
        api_key_id=None,
        source="job",
        model=luna,
        messages=(Message("user", "Hello."),),
        request_id="",
    )
    return ChatRunner(call, None, permit_of(luna, None), uuid4(), lambda: None)  # type: ignore[arg-type]


async def test_words_of_one_kind_are_joined_and_nothing_is_taken_twice(runner: ChatRunner) -> None:
    runner.events += [ReasoningDelta("Hm"), ReasoningDelta("."), TextDelta("Good"), TextDelta(" ")]
    assert runner.take(0) == [ReasoningDelta("Hm."), TextDelta("Good ")]
    runner.events += [TextDelta("tea"), TextDelta(".")]
    assert runner.take(2) == [TextDelta("tea.")]
    assert runner.take(3) == []
    assert (runner.reasoning, runner.text) == ("Hm.", "Good tea.")


async def test_the_pieces_of_tool_calls_stay_apart(runner: ChatRunner) -> None:
    pieces: list[Delta] = [ToolCallDelta(0, '{"a"', "x", "look"), ToolCallDelta(0, ": 1}")]
    pieces.append(TextDelta("!"))
    runner.events += pieces
    assert runner.take(0) == pieces
    assert runner.tool_calls == (ToolCall("x", "look", '{"a": 1}'),)


async def test_a_long_answer_takes_hardly_more_than_its_text(runner: ChatRunner) -> None:
    tracemalloc.start()
    seen = 0
    for number in range(10_000):
        runner.events.append(TextDelta(f" {number:04}"))
        if number % 20 == 19:
            seen += len(runner.take(seen))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2 * len(runner.text)
