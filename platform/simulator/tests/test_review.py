"""Asked to revise an answer, the simulator keeps to the sections that are asked for."""

from simulator.tests.conftest import Caller

_FORM = (
    "<errors_found>errors</errors_found>\n<points_conceded>points</points_conceded>\n"
    "<points_held>points</points_held>\n<revised_answer>the answer</revised_answer>"
)


def _said(caller: Caller, question: str) -> str:
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": question}]}
    text: str = caller.post(body).json()["choices"][0]["message"]["content"]
    return text


def test_a_review_has_each_section_once_and_names_the_answers(caller: Caller) -> None:
    question = f'<answer label="B">One.</answer> <answer label="C">Two.</answer> {_FORM}'
    said = _said(caller, question)
    for tag in ("errors_found", "points_conceded", "points_held", "revised_answer"):
        assert said.count(f"<{tag}>") == said.count(f"</{tag}>") == 1
    assert "B, C were read." in said


def test_a_review_does_not_depend_on_what_the_answers_say(caller: Caller) -> None:
    one, other = (f'<answer label="B">{text}</answer> {_FORM}' for text in ("Yes.", "No."))
    assert _said(caller, one) == _said(caller, other)


def test_what_was_asked_is_quoted_without_the_tags_of_its_sections(caller: Caller) -> None:
    said = _said(caller, '<question>\nHow deep?\n</question>\n<answer label="A">Deep.</answer>')
    assert "“How deep? Deep.”" in said
