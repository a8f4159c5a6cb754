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


def test_lines_that_stay_keep_their_own_line_ends() -> None:
    mixed = "one\r\ntwo\nthree\r\nfour\nfive"
    assert edited(mixed, [Edit("three", "3\n3.1")]) == "one\r\ntwo\n3\r\n3.1\r\nfour\nfive"
    assert edited(mixed, [Edit("two", "")]) == "one\r\nthree\r\nfour\nfive"
    assert edited(mixed, [Edit("five", "5")]) == "one\r\ntwo\nthree\r\nfour\n5"


def test_lines_of_a_passage_that_stay_keep_their_line_ends_too() -> None:
    mixed = "one\r\ntwo\nthree\r\nfour\n"
    assert edited(mixed, [Edit("one\ntwo\nthree", "one\n2\nthree")]) == (
        "one\r\n2\r\nthree\r\nfour\n"
    )


def test_a_passage_without_a_line_end_grows_by_the_most_frequent_one() -> None:
    assert edited("a\r\nb\r\nc\nd", [Edit("d", "d\ne")]) == "a\r\nb\r\nc\nd\r\ne"
    assert edited("d", [Edit("d", "d\ne")]) == "d\ne"


def test_the_last_lines_of_a_file_without_a_last_line_end_can_all_go() -> None:
    assert edited("a\r\nb\nc", [Edit("c", ""), Edit("b", "")]) == "a"


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


ENDS = st.sampled_from(["\n", "\r\n"])
MIXED = st.lists(st.tuples(st.text(alphabet="abc ", max_size=4), ENDS), min_size=1, max_size=12)


@given(
    lines=MIXED,
    last=st.sampled_from(["", "end"]),
    place=st.integers(0, 11),
    count=st.integers(1, 3),
    new=st.lists(st.text(alphabet="abc", max_size=4), max_size=5),
)
def test_no_line_end_changes_but_those_of_the_passage(
    lines: list[tuple[str, str]], last: str, place: int, count: int, new: list[str]
) -> None:
    start = place % len(lines)
    old = lines[start : start + count]
    before = "".join(text + end for text, end in lines[:start])
    after = "".join(text + end for text, end in lines[start + count :]) + last
    passage = "".join(text + end for text, end in old)
    try:
        result = edited(
            before + passage + after,
            [Edit(passage.removesuffix(old[-1][1]).replace("\r\n", "\n"), "\n".join(new))],
        )
    except UnfitEdit:
        return
    assert result.startswith(before)
    assert result.endswith(after)
    written = result[len(before) : len(result) - len(after)]
    if "\n".join(new):
        assert written.replace("\r\n", "\n") == "".join(f"{line}\n" for line in new)
        assert written.endswith("\r\n") == (old[-1][1] == "\r\n")
        if len({end for _, end in old}) == 1:
            assert written == "".join(line + old[-1][1] for line in new)
    else:
        assert written == ""


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
