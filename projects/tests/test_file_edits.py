"""Edits of a file that replace passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.file_edits import Edit, UnfitEdit, edited

FILE = "one\ntwo\nthree\ntwo and a half\nfour\n"


def test_passages_are_replaced() -> None:
    edits = [Edit("two\nthree", "2\n3\n3.1"), Edit("four", "4")]
    assert edited(FILE, edits) == "one\n2\n3\n3.1\ntwo and a half\n4\n"


def test_the_order_of_edits_does_not_matter() -> None:
    edits = [Edit("one", "1"), Edit("four", "4")]
    assert edited(FILE, edits) == edited(FILE, edits[::-1])


def test_lines_are_removed_with_their_end() -> None:
    assert edited(FILE, [Edit("two", "")]) == "one\nthree\ntwo and a half\nfour\n"
    assert edited("one\ntwo", [Edit("two", "")]) == "one"
    assert edited("one", [Edit("one", "")]) == ""


def test_a_file_keeps_its_line_ends() -> None:
    assert edited("one\r\ntwo\r\n", [Edit("two", "2\n3")]) == "one\r\n2\r\n3\r\n"
    assert edited("one\ntwo", [Edit("two", "2")]) == "one\n2"


def test_whole_lines_are_compared() -> None:
    assert edited(FILE, [Edit("two", "2")]).count("two") == 1
    with pytest.raises(UnfitEdit, match="not in the file"):
        edited(FILE, [Edit("thre", "3")])


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([Edit("gone", "x")], "edit 1 are not in the file"),
        ([Edit("one", "1"), Edit("ONE", "1")], "edit 2 are not in the file"),
        ([Edit("", "x")], "names no lines"),
        ([Edit("  \n", "x")], "names no lines"),
        ([Edit("one\ntwo", "x"), Edit("two\nthree", "y")], "same lines"),
        ([Edit("one", "x"), Edit("one", "y")], "same lines"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edits: list[Edit], reason: str) -> None:
    with pytest.raises(UnfitEdit, match=reason):
        edited(FILE, edits)


def test_a_passage_that_is_there_twice_is_refused() -> None:
    with pytest.raises(UnfitEdit, match="more than once"):
        edited("a\nb\na\n", [Edit("a", "c")])
    with pytest.raises(UnfitEdit, match="more than once"):
        edited("a\na\na\n", [Edit("a\na", "c")])


LINES = st.lists(st.text(alphabet="abc ", max_size=4), min_size=1, max_size=12)


@given(lines=LINES, place=st.integers(0, 11), count=st.integers(1, 3), new=LINES)
def test_what_fits_is_replaced_and_nothing_else(
    lines: list[str], place: int, count: int, new: list[str]
) -> None:
    start = place % len(lines)
    old = lines[start : start + count]
    content = "\n".join(lines) + "\n"
    try:
        result = edited(content, [Edit("\n".join(old), "\n".join(new))])
    except UnfitEdit:
        return
    replacement = new if "\n".join(new) else []
    assert result == "\n".join([*lines[:start], *replacement, *lines[start + len(old) :]]) + (
        "\n" if lines[:start] or replacement or lines[start + len(old) :] else ""
    )
