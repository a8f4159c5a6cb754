"""What readers see of an answer that comes in pieces: its text without markup, and its files."""

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise
from tracemalloc import Filter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.generations.types import Piece
from projects import shown_text
from projects.outputs import MAX_FILES, read_output
from projects.shown_text import FileState, Shown, ShownText, text_of
from projects.tests.test_outputs import HOSTILE, LINES, MARK, block, move

# Lines as hostile as they come: markers of this answer and of others, whole and broken.
ANSWERS = st.lists(
    LINES
    | HOSTILE
    | st.sampled_from(
        [
            *(f"@@END {MARK}", f"@@END {MARK}  \r", f"@@END {MARK} x", f"@@END {MARK}\r "),
            *(f"@@FILE {MARK} move c", f"@@FILE {MARK}", f"@@FILE {MARK}\rx", f"@@FILE {MARK}x"),
            *(f"@@FILE {MARK} create " + "x" * 600, f"@@FILE {MARK} chmod a", f" @@FILE {MARK}"),
            *(f"@@SUMMARY {MARK} x", f"@@FROM {MARK} a", "@", "@@F", ""),
        ]
    ),
    max_size=30,
).map("\n".join)


def pieces(answer: str, cuts: Iterable[int]) -> Iterator[str]:
    """The answer, cut at these places, as far as it has them."""
    places = sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    for start, end in pairwise(places):
        yield answer[start:end]


def shown(parts: Iterable[str]) -> list[Shown]:
    """All that the pieces show; neighbouring texts are joined."""
    reader = ShownText(MARK)
    seen: list[Shown] = []
    for part in (*(part for piece in parts for part in reader.read(piece)), *reader.rest()):
        if isinstance(part, Piece) and seen and isinstance(seen[-1], Piece):
            seen[-1] = Piece("text", seen[-1].text + part.text)
        else:
            seen.append(part)
    return seen


def told(answer: str) -> list[FileState]:
    return [part for part in shown([answer]) if isinstance(part, FileState)]


@given(ANSWERS)
def test_what_is_shown_is_the_body(answer: str) -> None:
    seen = shown([answer])
    assert text_of(seen).strip() == read_output(answer, MARK).body


@given(ANSWERS, st.lists(st.integers(min_value=1, max_value=1_000), max_size=40))
def test_it_does_not_depend_on_where_the_pieces_are_cut(answer: str, cuts: list[int]) -> None:
    assert shown(pieces(answer, cuts)) == shown([answer])
    assert shown(answer) == shown([answer])


@given(ANSWERS)
def test_every_file_that_can_be_used_is_told(answer: str) -> None:
    written = {state.path for state in told(answer) if state.state == "written"}
    assert {file.path for file in read_output(answer, MARK).files} <= written


@given(ANSWERS.filter(lambda answer: "@@" not in answer))
def test_a_text_without_markers_is_shown_as_it_comes(answer: str) -> None:
    reader, seen = ShownText(MARK), ""
    for end, character in enumerate(answer, start=1):
        seen += text_of(reader.read(character))
        assert answer[:end].startswith(seen)
        # A line end waits for what follows it, and so does the first "@" of a line.
        assert answer[:end].removeprefix(seen) in ("", "\n", "@", "\n@")


def test_files_are_told_where_they_stand() -> None:
    answer = "\n".join(
        [
            "# Tea",
            block("tea.py", "print(1)"),
            "It sells tea.",
            move("new.py", f"@@FROM {MARK} old.py"),
            block("gone.txt", "", "remove"),
            f"@@SUMMARY {MARK}\nTea.\n@@END {MARK}",
            "The end.",
        ]
    )
    assert shown([answer]) == [
        Piece("text", "# Tea"),
        FileState("tea.py", "create", "begun"),
        FileState("tea.py", "create", "written"),
        Piece("text", "\nIt sells tea."),
        FileState("new.py", "move", "begun"),
        FileState("new.py", "move", "written"),
        FileState("gone.txt", "delete", "begun"),
        FileState("gone.txt", "delete", "written"),
        Piece("text", "\nThe end."),
    ]


def test_a_file_is_told_as_soon_as_its_first_line_is_there() -> None:
    reader = ShownText(MARK)
    assert reader.read(f"@@FILE {MARK} create tea.py") == []
    assert reader.read("\n") == [FileState("tea.py", "create", "begun")]
    assert reader.read(f"print(1)\n@@END {MARK}") == []
    assert reader.read("\n") == [FileState("tea.py", "create", "written")]


def test_the_answer_may_end_anywhere() -> None:
    tea = Piece("text", "Tea")
    begun, written = FileState("a", "create", "begun"), FileState("a", "create", "written")
    assert shown([f"Tea\n@@FILE {MARK} create a\nx"]) == [tea, begun]
    assert shown([f"Tea\n@@FILE {MARK} create a\nx\n@@END {MARK}"]) == [tea, begun, written]
    assert shown(["Tea\n@@FI"]) == [Piece("text", "Tea\n@@FI")]


@pytest.mark.parametrize(
    "head", ["chmod a", "create ../a", "create", "", "create " + "x" * 401, "create " + " " * 600]
)
def test_a_file_that_cannot_be_used_is_not_told(head: str) -> None:
    assert told(f"@@FILE {MARK} {head}\nx\n@@END {MARK}") == []


def test_at_most_so_many_files_are_told() -> None:
    assert len(told("\n".join(block(f"{n}.txt") for n in range(500)))) == 2 * MAX_FILES


def test_endless_lines_take_neither_memory_nor_time() -> None:
    endless = [f"@@FILE {MARK} create a" + " " * 200_000 + "b", "x" * 200_000]
    endless += [f"@@END {MARK}" + " " * 200_000 + "x", f"@@END {MARK}" + " " * 200_000]
    answer = "\n".join(endless)
    assert read_output(answer, MARK).body == ""
    reader = ShownText(MARK)
    tracemalloc.start()
    for number, start in enumerate(range(0, len(answer), 50)):
        assert reader.read(answer[start : start + 50]) == []
        assert number % 2_000 or kept() < 10_000
    tracemalloc.stop()
    assert reader.rest() == []


def kept() -> int:
    """Bytes of what the reader has made and keeps."""
    made = tracemalloc.take_snapshot().filter_traces([Filter(True, shown_text.__file__)])
    return sum(each.size for each in made.statistics("filename"))
