"""The simulator answers the service's own prompts: it writes titles and reviews."""

import pytest

from simulator.tests.conftest import Caller

_FORM = (
    "<errors_found>errors</errors_found>\n<points_conceded>points</points_conceded>\n"
    "<points_held>points</points_held>\n<revised_answer>the answer</revised_answer>"
)


def _title_prompt(message: str) -> str:
    return f"<message>\n{message}\n</message>\n\nWrite a title for the conversation."


def _answer(caller: Caller, question: str) -> str:
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
def test_a_title_has_the_first_words_of_the_message(
    caller: Caller, message: str, title: str
) -> None:
    assert _answer(caller, _title_prompt(message)) == title


@pytest.mark.parametrize(
    "question",
    ["Write a title for my novel.", "<message>\nA title?\n</message>\n\nWhat does it mean?"],
)
def test_a_prompt_that_only_mentions_titles_gets_prose(caller: Caller, question: str) -> None:
    assert "This is the simulator" in _answer(caller, question)


def test_the_steering_of_a_reply_does_not_steer_its_title(caller: Caller) -> None:
    message = caller.prompt(status=503)
    assert _answer(caller, _title_prompt(message)) == "Name A City"
    assert caller.simulator.calls(caller.marker) == []


def test_a_line_for_the_title_steers_only_the_title(caller: Caller) -> None:
    message = caller.prompt(title=True, text="Cities")
    assert _answer(caller, _title_prompt(message)) == "Cities"
    assert "This is the simulator" in _answer(caller, message)
    assert len(caller.simulator.calls(caller.marker)) == 1


def test_a_review_has_each_section_once_and_names_the_answers(caller: Caller) -> None:
    question = f'<answer label="B">One.</answer> <answer label="C">Two.</answer> {_FORM}'
    review = _answer(caller, question)
    for tag in ("errors_found", "points_conceded", "points_held", "revised_answer"):
        assert review.count(f"<{tag}>") == review.count(f"</{tag}>") == 1
    assert "B, C were read." in review


def test_a_review_does_not_depend_on_the_texts_of_the_answers(caller: Caller) -> None:
    one, other = (f'<answer label="B">{text}</answer> {_FORM}' for text in ("Yes.", "No."))
    assert _answer(caller, one) == _answer(caller, other)


def test_a_question_is_quoted_without_the_tags_of_its_sections(caller: Caller) -> None:
    review = _answer(caller, '<question>\nHow deep?\n</question>\n<answer label="A">Deep.</answer>')
    assert "“How deep? Deep.”" in review
