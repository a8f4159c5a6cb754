"""Strangers' texts are put to a confined process, and one that breaks it costs its own answer
alone."""

import time

from common.confined_answers import ask


def answers(*questions: bytes, seconds: float = 20.0) -> list[bytes | None]:
    return ask("common.tests.answering", [], questions, seconds=seconds)


def test_each_question_has_its_answer() -> None:
    assert answers(b"abc", b"", b"de") == [b"cba", b"", b"ed"]


def test_a_question_that_breaks_the_process_has_none() -> None:
    assert answers(b"ab", b"break", b"cd", b"break", b"ef") == [b"ba", None, b"dc", None, b"fe"]


def test_an_answer_without_an_end_is_none() -> None:
    assert answers(b"babble", b"ab") == [None, b"ba"]


def test_whoever_breaks_one_process_after_the_other_is_not_asked_for_ever() -> None:
    assert answers(*[b"break"] * 10, b"ab") == [None] * 11


def test_after_the_time_for_all_the_rest_has_no_answer() -> None:
    began = time.monotonic()
    assert answers(b"ab", b"wait", b"cd", seconds=1.0) == [b"ba", None, None]
    assert time.monotonic() - began < 10


def test_no_question_needs_no_process() -> None:
    assert answers() == []
