"""Differences between texts: both sides can be made from them, whatever the texts are."""

import random
import time
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.diffs import MAX_PIECES, Difference, Format, Hunk, compare

# Few words, so that texts have something in common; line ends and separators of all kinds.
_PIECES = ["a", "b", "sea", "1", " ", "\n", "\n\n", "\r\n", "\t", ".", "\u2028", "\x0b", "水", "🌊"]
texts = st.one_of(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join), st.text())
formats = st.sampled_from(get_args(Format))


@given(texts, texts, formats)
@settings(max_examples=300, deadline=None)
def test_both_sides_can_be_made_from_a_difference(left: str, right: str, form: Format) -> None:
    found = compare(left, right, form)

    assert _side(found, "delete") == left
    assert _side(found, "insert") == right
    assert all(hunk.text for hunk in found.hunks)
    assert 0 <= found.stats.similarity <= 1
    assert (found.unified is not None) == (form == "unified")
    assert compare(left, right, form) == found


@given(texts, texts)
@settings(max_examples=300, deadline=None)
def test_the_unified_text_is_a_patch_of_the_left_side(left: str, right: str) -> None:
    unified = compare(left, right, "unified").unified

    assert unified is not None
    assert _patched(left, unified) == right


@given(texts, formats)
def test_a_text_is_like_itself(text: str, form: Format) -> None:
    found = compare(text, text, form)

    assert found.hunks == ([Hunk("equal", text)] if text else [])
    assert (found.stats.added, found.stats.removed, found.stats.similarity) == (0, 0, 1)
    assert not found.unified


def test_lines_are_counted_and_surrounded_by_three_others() -> None:
    left = "".join(f"{n}\n" for n in range(20))
    right = left.replace("10\n", "ten\nX\n").removesuffix("\n")

    found = compare(left, right, "unified")

    assert (found.stats.added, found.stats.removed) == (3, 2)
    assert found.unified == (
        "--- left\n+++ right\n"
        "@@ -8,7 +8,8 @@\n 7\n 8\n 9\n-10\n+ten\n+X\n 11\n 12\n 13\n"
        "@@ -17,4 +18,4 @@\n 16\n 17\n 18\n-19\n+19\n\\ No newline at end of file\n"
    )


def test_words_are_compared_without_their_lines() -> None:
    found = compare("The sea is deep,\nvery deep.", "The sea is blue,\nvery deep.", "words")

    assert [(hunk.op, hunk.text) for hunk in found.hunks] == [
        ("equal", "The sea is "),
        ("delete", "deep"),
        ("insert", "blue"),
        ("equal", ",\nvery deep."),
    ]
    assert (found.stats.added, found.stats.removed) == (1, 1)


def test_a_script_without_spaces_is_compared_by_its_characters() -> None:
    found = compare("海は深い。", "海は青い。", "words")

    assert [hunk.text for hunk in found.hunks] == ["海は", "深", "青", "い。"]


def test_very_long_texts_are_compared_in_larger_pieces() -> None:
    words = compare("a " * MAX_PIECES, "b " * MAX_PIECES, "words")
    lines = compare("a\n" * (MAX_PIECES + 1), "b\n", "json")

    assert [hunk.op for hunk in words.hunks] == ["delete", "insert"]
    assert (words.stats.added, words.stats.removed) == (1, 1)
    assert [len(hunk.text) for hunk in lines.hunks] == [2 * (MAX_PIECES + 1), 2]


@pytest.mark.parametrize("alphabet", ["ab", "abcdefghijklmnopqrstuvwxyz"])
@pytest.mark.parametrize("form", get_args(Format))
def test_the_worst_of_texts_takes_about_a_second(alphabet: str, form: Format) -> None:
    """Of processor time: the machine may be busy."""
    chance = random.Random(1)  # noqa: S311 - the same texts each time
    separator = " " if form == "words" else "\n"
    left, right = (
        separator.join(chance.choices(alphabet, k=MAX_PIECES // 2)) * 2 for _ in range(2)
    )
    begun = time.process_time()

    compare(left, right, form)

    assert time.process_time() - begun < 2


def _side(found: Difference, op: str) -> str:
    return "".join(hunk.text for hunk in found.hunks if hunk.op in ("equal", op))


def _patched(left: str, unified: str) -> str:
    """The left text with a patch applied, as `patch` does it, by line numbers."""
    before = left.split("\n")
    before = [f"{line}\n" for line in before[:-1]] + ([before[-1]] if before[-1] else [])
    after: list[str] = []
    done = 0
    lines = unified.split("\n")[2:-1]
    for index, line in enumerate(lines):
        ending = "" if lines[index + 1 : index + 2] == ["\\ No newline at end of file"] else "\n"
        if line.startswith("@@"):
            first, _, count = line.split()[1].removeprefix("-").partition(",")
            start = int(first) if count == "0" else int(first) - 1
            after += before[done:start]
            done = start
        elif line.startswith("+"):
            after.append(line[1:] + ending)
        elif line.startswith((" ", "-")):
            assert before[done] == line[1:] + ending
            after += [before[done]] if line.startswith(" ") else []
            done += 1
    return "".join(after + before[done:])
