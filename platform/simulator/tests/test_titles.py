"""Asked for the title of a conversation, the simulator makes one of the message that is shown."""

import pytest

from simulator.tests.conftest import Caller


def _question(message: str) -> str:
    return f"<message>\n{message}\n</message>\n\nWrite a title for the conversation."


def _said(caller: Caller, question: str) -> str:
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": question}]}
    text: str = caller.post(body).json()["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("how deep is the sea, and why?", "How Deep Is The Sea"),
        ("How far is it to the sea?", "How Far Is It"),
        ("Why do we sail the sea?", "Why Do We Sail"),
        ("Wie tief?\nUnd warum?", "Wie Tief Und Warum"),
        ("?!", "Nothing"),
        ("海有多深", "海有多深"),
    ],
)
def test_a_title_is_of_the_messages_first_words(caller: Caller, message: str, title: str) -> None:
    assert _said(caller, _question(message)) == title


@pytest.mark.parametrize(
    "question",
    ["Write a title for my novel.", "<message>\nA title?\n</message>\n\nWhat does it mean?"],
)
def test_who_only_speaks_of_titles_gets_prose(caller: Caller, question: str) -> None:
    assert "This is the simulator" in _said(caller, question)


def test_what_steers_the_reply_does_not_steer_the_title(caller: Caller) -> None:
    message = caller.prompt(status=503)
    assert _said(caller, _question(message)) == "Name A City"
    assert caller.simulator.calls(caller.marker) == []


def test_a_line_for_the_title_steers_it_and_nothing_else(caller: Caller) -> None:
    message = caller.prompt(title=True, text="Cities")
    assert _said(caller, _question(message)) == "Cities"
    assert "This is the simulator" in _said(caller, message)
    assert len(caller.simulator.calls(caller.marker)) == 1
