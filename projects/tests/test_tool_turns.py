"""The turns of an author that calls functions, as they are sent to its model again."""

import json
from uuid import UUID

from ai.providers.types import Message
from projects.author_tools.calls import FEW_CALLS, MAX_CALLS, StoredCall
from projects.author_tools.results import Carried
from projects.prompts.continuing import GO_ON
from projects.prompts.tool_working import FINISH_NOW, LEFT_OUT
from projects.selectors.tool_turns import Turn, conversation, functions_for, since_calls

ROOM = 100_000


def call(number: int, *, arguments: str = "{}", result: str = "Found.") -> StoredCall:
    return StoredCall(f"call-{number}", "search", arguments, Carried(True, result, "found"))


def turn(number: int, text: str = "", *calls: StoredCall) -> Turn:
    return Turn(UUID(int=number), text, list(calls))


def sent(*turns: Turn, room: int = ROOM, is_last: bool = False) -> list[Message]:
    return conversation(turns, room=room, is_last=is_last)


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
