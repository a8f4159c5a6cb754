"""Reading the answer of a model that works on a subtask: body, summary and files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.code_fences import without_fence
from projects.file_edits import Edit
from projects.outputs import (
    MAX_FILE,
    MAX_FILES,
    MAX_SUMMARY_LINE,
    Op,
    OutputFile,
    read_output,
)

MARK = "8f3a21c4"


def block(path: str, content: str = "x", op: str = "create", mark: str = MARK) -> str:
    return f"@@FILE {mark} {op} {path}\n{content}\n@@END {mark}"


def test_an_answer_has_a_body_a_summary_and_files() -> None:
    text = "\n".join(
        [
            "# The shop",
            "",
            block("src/shop.py", "import os\n\nprint(1)"),
            "It sells tea.",
            block("old.txt", "", "delete"),
            f"@@SUMMARY {MARK}\n- A shop\n\n- Tea\n@@END {MARK}",
        ]
    )
    output = read_output(text, MARK)
    assert output.body == "# The shop\n\nIt sells tea."
    assert output.summary == "- A shop\n- Tea"
    assert output.files == (
        OutputFile("src/shop.py", "create", "import os\n\nprint(1)"),
        OutputFile("old.txt", "delete", ""),
    )
    assert output.faults == ()


def test_without_a_summary_the_first_lines_are_it() -> None:
    text = "\n\n".join(f"Line {n} " + "and more " * 100 for n in range(9))
    lines = read_output(text, MARK).summary.split("\n")
    assert len(lines) == 5
    assert all(len(line) == MAX_SUMMARY_LINE and line.endswith("…") for line in lines)


def test_a_file_ends_with_the_mark_of_its_step_alone() -> None:
    inner = block("inner.txt", "stolen", mark="00000000")
    content = f"@@END\n@@END 8f3a21c\n @@END {MARK}\n@@FILE {MARK} create b\n{inner}\n```\n</file>"
    output = read_output(f"{block('a', content)}\nBody", MARK)
    assert output.files == (OutputFile("a", "create", content),)
    assert output.body == "Body"


def test_of_two_files_with_one_path_the_later_counts() -> None:
    output = read_output(f"{block('a', '1')}\n{block('a', '2', 'update')}", MARK)
    assert output.files == (OutputFile("a", "update", "2"),)


def test_a_file_that_the_answer_breaks_off_is_left_out() -> None:
    output = read_output(f"Body\n@@FILE {MARK} create a.py\nhalf", MARK)
    assert (output.body, output.files) == ("Body", ())
    assert output.faults[0].message == "The answer ended within the file."


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            "./a",
            "~/a",
            "a/.git/config",
            ".GIT/config",
            "a\\b",
        ),
        *("C:/a", "a\u0000b", "a\rb", "nul", "COM1.txt", "a/aux.py", "a /b", "a.", "a/ b"),
        # Git takes these for its own files: on NTFS, and on HFS+, which overlooks some characters.
        *("git~1/config", "a/GIT~1/config", "gitmod~1", "GI7EBA~1", "gi7eb~12", ".git ./config"),
        *(".git. ./x", ".git::$INDEX_ALLOCATION/config", "a:b", ".git\\config", ".gitmodules:x"),
        *(".g\u200cit/config", ".git\u206a/config", "\ufeff.git/config", "progra~1/x.txt"),
        *("con .txt", "COM\u00b9", "conin$", "x/CONOUT$"),
        *("e\u0301.txt", "a\u202eb", "x" * 201, "d/" * 200 + "x"),
    ],
)
def test_a_harmful_path_is_left_out_with_a_reason(path: str) -> None:
    output = read_output(f"{block(path)}\n{block('good.txt')}", MARK)
    assert [file.path for file in output.files] == ["good.txt"]
    [fault] = output.faults
    assert fault.message.endswith(".")


@pytest.mark.parametrize(
    "path",
    ["draft~", "notes~1a.md", "a-long-name~1.txt", ".gitignore", ".github/x", "git-1"],
)
def test_a_path_that_only_resembles_those_is_taken(path: str) -> None:
    assert [file.path for file in read_output(block(path), MARK).files] == [path]


def test_an_operation_that_there_is_not_is_left_out() -> None:
    assert "operation" in read_output(block("a", op="chmod"), MARK).faults[0].message


def test_files_are_bounded_in_size_and_number() -> None:
    large = read_output(block("a", "x" * (MAX_FILE + 1)), MARK)
    assert (large.files, len(large.faults)) == ((), 1)
    many = read_output("\n".join(block(f"{n}.txt") for n in range(500)), MARK)
    assert (len(many.files), len(many.faults)) == (MAX_FILES, MAX_FILES)


# A text as a model may write it, with markers of any kind in it, but not the end of its own step.
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40)
HOSTILE = st.sampled_from(
    [f"@@FILE {MARK} create b", f"@@SUMMARY {MARK}", "@@END", "@@END 00000000", "```", "@@"]
)
CONTENTS = st.lists(LINES | HOSTILE, max_size=8).map("\n".join)
NAMES = st.from_regex(r"[b-z][a-z0-9_-]{0,10}(\.[a-z]{1,4})?", fullmatch=True)
OPS: st.SearchStrategy[Op] = st.sampled_from(["create", "update"])


@given(st.dictionaries(st.builds("src/{}".format, NAMES), st.tuples(OPS, CONTENTS), max_size=5))
def test_what_is_written_between_the_marks_is_read_as_it_is(
    files: dict[str, tuple[Op, str]],
) -> None:
    text = "\n".join(block(path, content, op) for path, (op, content) in files.items())
    output = read_output(f"Before\n{text}\nAfter", MARK)
    expected = {
        path: OutputFile(path, op, content)
        for path, (op, content) in files.items()
        if without_fence(path, content.split("\n")) is None  # a file in a fence loses it
    }
    good = {path: file for path, file in expected.items() if path not in faulty(output.faults)}
    assert {file.path: file for file in output.files if not file.is_unfenced} == good
    assert output.body == ("Before\nAfter" if files else "Before\n\nAfter")


def faulty(faults: object) -> set[str]:
    return {fault.path for fault in faults}  # type: ignore[attr-defined]


@given(st.lists(LINES | HOSTILE | st.just(f"@@END {MARK}"), max_size=30).map("\n".join))
def test_any_text_can_be_read(text: str) -> None:
    output = read_output(text, MARK)
    assert len(output.summary.split("\n")) <= 5
    paths = [file.path for file in output.files]
    assert len(paths) == len(set(paths))


def edit(path: str, *pairs: tuple[str, str], op: str = "edit") -> str:
    parts = [f"@@OLD {MARK}\n{old}\n@@NEW {MARK}\n{new}" for old, new in pairs]
    return block(path, "\n".join(parts), op)


@pytest.mark.parametrize("op", ["edit", "update", "modify"])
def test_a_file_may_have_edits_in_the_place_of_its_content(op: str) -> None:
    output = read_output(edit("a.py", ("one\ntwo", "1\n2"), ("x", ""), op=op), MARK)
    assert output.files == (
        OutputFile("a.py", "update", "", (Edit("one\ntwo", "1\n2"), Edit("x", ""))),
    )


@pytest.mark.parametrize(
    "content",
    [
        f"@@OLD {MARK}\nx",
        f"@@NEW {MARK}\nx",
        f"@@NEW {MARK}\nx\n@@OLD {MARK}\ny",
        f"@@OLD {MARK}\nx\n@@OLD {MARK}\ny\n@@NEW {MARK}\nz",
    ],
)
def test_edits_that_cannot_be_read_are_a_fault(content: str) -> None:
    output = read_output(block("a.py", content, "edit"), MARK)
    assert output.files == ()
    assert "@@OLD" in output.faults[0].message


def test_markers_of_other_steps_are_content() -> None:
    content = "@@OLD 00000000\nx\n@@NEW 00000000\ny"
    output = read_output(block("a.py", content, "edit"), MARK)
    assert output.files == (OutputFile("a.py", "update", content),)
    text = f"first\n@@OLD {MARK}\nx\n@@NEW {MARK}\ny"
    assert read_output(block("a.py", text, "edit"), MARK).files[0].content == text


def move(path: str, *lines: str, op: str = "move") -> str:
    return block(path, "\n".join(lines), op)


@pytest.mark.parametrize("op", ["move", "rename"])
def test_a_file_is_moved_with_its_content_with_other_content_or_with_edits(op: str) -> None:
    source = f"@@FROM {MARK} a.py"
    plain = read_output(move("b.py", source, op=op), MARK).files
    other = read_output(move("b.py", source, "one", "two", op=op), MARK).files
    changed = read_output(
        move("b.py", source, f"@@OLD {MARK}", "x", f"@@NEW {MARK}", "y", op=op), MARK
    ).files
    assert plain == (OutputFile("b.py", "create", "", previous_path="a.py"),)
    assert other == (OutputFile("b.py", "create", "one\ntwo", previous_path="a.py"),)
    assert changed == (OutputFile("b.py", "create", "", (Edit("x", "y"),), "a.py"),)


@pytest.mark.parametrize(
    "line",
    ["", "@@FROM a.py", f"@@FROM {MARK} b.py", f"@@FROM {MARK} ../a", "@@FROM 00000000 a.py"],
)
def test_a_move_from_nowhere_is_a_fault(line: str) -> None:
    output = read_output(move("b.py", line), MARK)
    assert output.files == ()
    assert output.faults[0].path == "b.py"
