"""The part of a text in which something was found."""

import time

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


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Die Straße", "strasse"),
        ("DIE STRAẞE", "strasse"),
        ("to \ufb01nd \ufb00", "find"),
        ("\u2160\u2164", "iv"),
        ("in Zürich", "zurich"),
        ("in Zu\u0308rich", "zurich"),
        ("İSTANBUL", "istanbul"),
        ("ΟΔΟΣ", "οδοσ"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी", "हिन"),
        ("학교에서 배운 한국", "한국"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
        ("京都と東京", "東"),
        ("\uff76\uff9e\uff77\uff9e", "ギ"),
        ("東abc", "abc"),
        ("\U00020bb7野家", "野"),
    ],
)
@pytest.mark.parametrize("before", ["Well. ", "Ça va. ", "\ufdfa ", "학교에서 ", "我想知道。", "Й"])
def test_a_word_is_found_as_the_index_has_it(before: str, said: str, word: str) -> None:
    found = snippet(f"{before * 500} {said}", [word])

    assert found.startswith("…")
    assert found.endswith(said)


@pytest.mark.parametrize(
    "text", ["\u0f81" * 20_000, "\u0301" * 10_000 + "\u0316" * 10_000, "\ufdfa" * 20_000]
)
def test_marks_without_end_take_no_time(text: str) -> None:
    started = time.thread_time()
    snippet(text, ["sea"])

    assert time.thread_time() - started < 0.8  # seconds; not 1.5 and more


@pytest.mark.parametrize("text", ["lorem ipsum dolor " * 1_000, "a" * 18_000, "." * 18_000])
def test_many_words_take_hardly_longer_than_one(text: str) -> None:
    words = ["a" * length + "b" for length in range(1, 33)]
    text = f"{text} {' '.join(words)}"

    assert time_of(text, words) < 5 * time_of(text, words[-1:])


def time_of(text: str, words: list[str]) -> float:
    """Seconds of the processor's that a snippet takes."""

    def once() -> float:
        started = time.thread_time()
        assert snippet(text, words).startswith("…")
        return time.thread_time() - started

    return min(once() for _ in range(5))


@pytest.mark.parametrize("words", [["(", "["], ["\\"], ["a.b"], ["$^"]])
def test_words_are_no_patterns(words: list[str]) -> None:
    assert snippet("The sea.", words) == "The sea."
