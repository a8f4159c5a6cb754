"""The part of a text in which something was found."""

import pytest

from conversations.snippets import LENGTH, snippet


def test_a_short_text_is_whole() -> None:
    assert snippet("The sea\n\nis  deep.", ["deep"]) == "The sea is deep."


@pytest.mark.parametrize("word", ["sea", "SEA", "se"])
def test_it_is_around_the_first_of_the_words(word: str) -> None:
    text = f"{'Well. ' * 100}The Sea is deep. {'Yes. ' * 100}The sea."

    found = snippet(text, ["nothing", word])

    assert "Well. The Sea is deep. Yes." in found
    assert found.startswith("…Well.")
    assert found.endswith("Yes.…")
    assert len(found) <= LENGTH + 2


def test_a_word_begins_where_a_word_begins() -> None:
    assert snippet(f"{'overseas ' * 100}the sea", ["sea"]).endswith("the sea")
    assert snippet(f"{'-' * 500} snake_case", ["case"]).endswith("snake_case")


def test_where_nothing_is_found_it_is_the_beginning() -> None:
    found = snippet("Well. " * 100, ["sea"])

    assert found.startswith("Well. Well.")
    assert found.endswith("Well.…")


def test_what_has_no_spaces_is_cut_anywhere() -> None:
    found = snippet("x" * 1_000, ["x"])

    assert found == "x" * LENGTH + "…"


@pytest.mark.parametrize("words", [["(", "["], ["\\"], ["a.b"], ["$^"]])
def test_words_are_no_patterns(words: list[str]) -> None:
    assert snippet("The sea.", words) == "The sea."
