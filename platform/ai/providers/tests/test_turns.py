"""Conversations for wires that keep the system's words apart and want turns that alternate."""

from ai.providers.turns import conversation
from ai.providers.types import Message


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
