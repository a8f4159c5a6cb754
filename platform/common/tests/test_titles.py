"""What things are called: one line of what is seen."""

import pytest

from common.titles import first_line, one_line, shows_something


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (" Deep\t \r\n sea ", "Deep sea"),
        ("Deep\x1b\u202esea\x00", "Deepsea"),
        ("Deep \u200b sea", "Deep sea"),
        ("Deep\u2028\x1c\u3000sea", "Deep sea"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # noqa: RUF001
        ("👩\u200d👧", "👩\u200d👧"),
        ("Deep \u200d sea", "Deep sea"),
        ("\u200d", ""),
        (" \u200c \u200d\u200b", ""),
        ("", ""),
    ],
)
def test_one_line_has_single_spaces_and_something_to_see(text: str, becomes: str) -> None:
    assert one_line(text) == becomes


def test_the_first_line_of_a_text_is_cut_to_what_fits() -> None:
    assert first_line("\n How deep?\nI wonder.", 20) == "How deep?"
    assert first_line("How deep?", 9) == "How deep?"
    assert first_line("How deep is it?", 9) == "How deep…"


def test_a_thing_is_called_by_its_first_line_that_shows_something() -> None:
    assert first_line("\u200b\n \nHow deep is the sea?\nVery.", 80) == "How deep is the sea?"


@pytest.mark.parametrize("text", ["a", " \n.", "🌊", "\u200bא\u200f", "👩\u200d👧"])
def test_something_of_a_text_is_seen(text: str) -> None:
    assert shows_something(text)


@pytest.mark.parametrize("text", ["", " \n\u00a0", "\u200b", "\ufeff", "\u202e\u2060 \u200d"])
def test_nothing_of_a_text_is_seen(text: str) -> None:
    assert not shows_something(text)
