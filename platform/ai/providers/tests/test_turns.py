"""Conversations for wires that keep the system's words apart and want turns that alternate."""

from hypothesis import given

from ai.providers.call_ids import read_call_id, with_state
from ai.providers.turns import conversation, sides
from ai.providers.types import Message, ToolCall

from .tool_calls import PICTURE, called, conversations, result


def user(text: str) -> Message:
    return Message("user", text)


def assistant(text: str) -> Message:
    return Message("assistant", text)


def system(text: str) -> Message:
    return Message("system", text)


def test_system_messages_go_first_wherever_they_stood() -> None:
    said = [system("Be brief."), user("Hi"), assistant("Hello"), system("Rhyme."), user("Go on")]
    assert conversation(said) == (
        "Be brief.\n\nRhyme.",
        [user("Hi"), assistant("Hello"), user("Go on")],
    )


def test_neighbours_of_one_role_are_merged() -> None:
    said = [user("a"), user("b"), assistant("c"), system("s"), assistant("d"), user("e")]
    assert conversation(said).turns == [user("a\n\nb"), assistant("c\n\nd"), user("e")]


def test_blank_messages_are_left_out() -> None:
    said = [system(" "), user("a"), assistant("\n"), user("b")]
    assert conversation(said) == ("", [user("a\n\nb")])


def test_the_user_begins() -> None:
    assert conversation([assistant("Welcome!"), user("Hi")]).turns == [
        user("Hello."),
        assistant("Welcome!"),
        user("Hi"),
    ]


def test_the_user_ends() -> None:
    assert conversation([user("Tell me"), assistant("Once upon")]).turns == [
        user("Tell me"),
        assistant("Once upon"),
        user("Continue."),
    ]


def test_a_conversation_of_nothing_but_the_system_is_one() -> None:
    assert conversation([system("Say hello.")]) == ("Say hello.", [user("Continue.")])


def test_the_words_of_a_message_stay_as_they_are() -> None:
    assert conversation([user("  indented\n")]).turns == [user("  indented\n")]


A, B = ToolCall("a", "weather", "{}"), ToolCall("b", "time", "{}")


def test_results_follow_their_calls_in_the_order_of_the_calls() -> None:
    said = [user("Hi"), called(A, B), result("b", "Noon."), result("a"), user("And?")]
    assert conversation(said).turns == [
        user("Hi"),
        called(A, B),
        result("a"),
        result("b", "Noon."),
        user("And?"),
    ]


def test_a_result_that_comes_late_stands_before_what_the_user_said() -> None:
    said = [user("Hi"), called(A), user("Hurry!"), result("a")]
    assert conversation(said).turns == [user("Hi"), called(A), result("a"), user("Hurry!")]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    said = [user("Hi"), called(A, B), result("b")]
    assert conversation(said).turns[2:] == [result("a", "No result."), result("b")]


def test_a_result_without_a_call_is_what_the_user_says() -> None:
    said = [user("Hi"), called(A), result("a"), result("a", "Rain."), result("z", "Snow.")]
    assert conversation(said).turns[2:] == [result("a"), user("Rain.\n\nSnow.")]


def test_an_empty_result_is_a_result() -> None:
    assert conversation([called(A), result("a", "")]).turns[-1] == result("a", "")


def test_calls_of_neighbours_are_of_one_turn() -> None:
    said = [user("Hi"), called(A, text="One."), called(B, text="Two."), result("a"), result("b")]
    assert conversation(said).turns[1] == called(A, B, text="One.\n\nTwo.")


def test_an_id_is_there_once() -> None:
    said = [called(A, A), result("a", "1"), result("a", "2"), called(A), result("a", "3")]
    _, first, *results, last, late = conversation(said).turns
    ids = [call.id for call in (*first.tool_calls, *last.tool_calls)]
    assert ids == ["a", "a-2", "a-3"]
    assert [(each.tool_call_id, each.text) for each in (*results, late)] == [
        ("a", "1"),
        ("a-2", "2"),
        ("a-3", "3"),
    ]


def test_a_result_is_that_of_the_last_call_with_its_id() -> None:
    said = [called(A), user("Hm."), called(A), result("a", "Rain.")]
    results = [turn.text for turn in conversation(said).turns if turn.role == "tool"]
    assert results == ["No result.", "Rain."]


def test_many_calls_take_no_longer_than_they_are_many() -> None:
    said = [called(*[A] * 20_000), *[result("a")] * 20_000, *[result("z")] * 20_000]
    turns = conversation(said).turns
    assert turns[1].tool_calls[-1].id == turns[-2].tool_call_id == "a-20000"


def test_an_id_from_elsewhere_keeps_its_state() -> None:
    marked = with_state("functions.weather:0", "g", "c2ln")
    said = [called(ToolCall(marked, "weather", "{}")), result(marked)]
    [call] = conversation(said).turns[1].tool_calls
    assert read_call_id(call.id, "g") == ("functions_weather_0", "c2ln")


def test_pictures_stay_between_their_words() -> None:
    before = Message("user", "Look:", ("Look:", PICTURE))
    after = Message("user", "", (" ", PICTURE))
    assert conversation([before, user("And:"), after]).turns == [
        Message("user", "Look:\n\nAnd:", ("Look:", PICTURE, "And:", PICTURE))
    ]


@given(said=conversations)
def test_any_conversation_alternates_with_all_results_after_their_calls(
    said: list[Message],
) -> None:
    turns = conversation(said).turns
    groups = list(sides(turns))
    assert [is_assistant for is_assistant, _ in groups] == [
        index % 2 == 1 for index in range(len(groups))
    ]
    assert len(groups) % 2 == 1
    waiting: list[str] = []
    for _, group in groups:
        results = [turn.tool_call_id for turn in group if turn.role == "tool"]
        assert results == waiting
        assert [turn.role for turn in group[: len(results)]] == ["tool"] * len(results)
        waiting = [call.id for turn in group for call in turn.tool_calls]
    assert waiting == []
