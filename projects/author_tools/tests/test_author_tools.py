"""What the functions of an author answer, on a working copy."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.author_tools.arguments import FUNCTIONS
from projects.author_tools.carrying_out import carry_out
from projects.author_tools.results import MAX_RESULT, MAX_SUMMARY, Carried
from projects.author_tools.working_copy import WorkingCopy
from projects.outputs import MAX_FILE, MAX_FILES, OutputFile

FILE, LINK, SUBMODULE = "100644", "120000", "160000"
FILES: dict[str, str | None] = {
    "README.md": "# Seaside\n",
    "src/app.py": "import tide\n\nprint('waves')\n",
    "src/tide.py": "TIDE = 1\r\nEBB = 2\r\n",
    "open.txt": "no end",
    "logo.bin": None,
}
MODES = {**dict.fromkeys(FILES, FILE), "link": LINK, "lib": SUBMODULE, "far/away.py": FILE}


def copy_of(own: list[OutputFile] | None = None) -> WorkingCopy:
    return WorkingCopy(modes=MODES, contents=FILES, own=own or ())


def call(copy: WorkingCopy, name: str, **arguments: Any) -> Carried:
    return carry_out(copy, name, json.dumps(arguments))


def changes(copy: WorkingCopy) -> dict[str, tuple[str, str]]:
    return {file.path: (file.op, file.previous_path) for file in copy.files}


# --- Reading --------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_numbers_of_its_lines() -> None:
    found = call(copy_of(), "read_file", path="./src/app.py")
    assert found.text == "src/app.py, lines 1 to 3 of 3:\n1\timport tide\n2\t\n3\tprint('waves')"
    assert (found.ok, found.summary) == (True, "lines 1 to 3 of 3")


def test_some_lines_are_read() -> None:
    found = call(copy_of(), "read_file", path="src/tide.py", from_line=2, to_line="9")
    assert found.text == "src/tide.py, lines 2 to 2 of 2:\n2\tEBB = 2"
    assert "2 lines" in call(copy_of(), "read_file", path="src/tide.py", from_line=3).text


def test_a_long_file_is_read_in_parts() -> None:
    long = "".join(f"line {number} {'x' * 90}\n" for number in range(1, 1_001))
    copy = WorkingCopy(modes={"long": FILE}, contents={"long": long})
    text, next_line = "", 1
    while next_line:
        found = call(copy, "read_file", path="long", from_line=next_line)
        assert len(found.text) <= MAX_RESULT
        _, *lines = found.text.split("\n")
        rest = lines.pop() if lines[-1].startswith("[") else ""
        text += "".join(line.partition("\t")[2] + "\n" for line in lines)
        next_line = int(rest.partition("=")[2].rstrip(".]") or 0)
    assert text == long


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/app.js", "There is no file src/app.js. Do you mean src/app.py?"),
        ("lib/TIDE.py", "Do you mean src/tide.py?"),
        ("src", "src is a folder"),
        ("", "Name the path"),
        ("link", "symbolic link"),
        ("lib", "submodule"),
        ("logo.bin", "no text"),
        ("far/away.py", "You have not read far/away.py"),
        ("../etc/passwd", "There is no file"),
        ("x" * 50_000, "There is no file"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(path: str, words: str) -> None:
    found = call(copy_of(), "read_file", path=path)
    assert not found.ok
    assert words in found.text
    assert len(found.summary) <= MAX_SUMMARY


def test_files_are_listed_and_matched() -> None:
    copy = copy_of([OutputFile("new.md", "create", "x\n"), OutputFile("open.txt", "delete", "")])
    lines = call(copy, "list_files").text.split("\n")
    assert lines[0] == "8 files:"
    assert "new.md (yours)" in lines
    assert "link (a link or a submodule)" in lines
    assert "open.txt" not in lines
    assert call(copy, "list_files", path="src/").text.split("\n")[1:] == [
        "src/app.py",
        "src/tide.py",
    ]
    matched = call(copy, "list_files", pattern="*.py").text.split("\n")
    assert matched == ["3 files:", "far/away.py", "src/app.py", "src/tide.py"]
    assert call(copy, "list_files", pattern="src/t*").text.split("\n")[1:] == ["src/tide.py"]
    assert call(copy, "list_files", pattern="*.rs").text == "No file matches."
    assert not call(copy, "list_files", path="nowhere").ok


def test_a_large_repository_is_listed_by_its_folders() -> None:
    modes = {f"d{n % 30:02}/{n % 7}/f{n:05}.py": FILE for n in range(50_000)}
    modes |= {"top.py": FILE, "node_modules/x.js": FILE}
    copy = WorkingCopy(modes=modes, contents={})
    lines = call(copy, "list_files").text.split("\n")
    assert lines[0] == "50,002 files:"
    assert lines[1] == "d00/ (1,667 files)"
    assert "node_modules/ (1 file, generated)" in lines
    assert lines[-1] == "top.py"
    many = call(copy, "list_files", pattern="*.py")
    assert len(many.text) <= MAX_RESULT
    assert "more. Name a folder, or a pattern.]" in many.text


def test_a_text_is_found_in_any_capitals() -> None:
    found = call(copy_of(), "search", text="Tide")
    assert found.text.split("\n") == [
        "[1 more files were not looked at. Name a folder in `path`.]",
        "2 found for the text 'Tide' in 4 files.",
        "src/app.py:1: import tide",
        "src/tide.py:1: TIDE = 1",
    ]
    assert call(copy_of(), "search", text="Tide", path="src/app.py").summary == "1 found"
    assert call(copy_of(), "search", text="gone", path="src").text.startswith("0 found")
    assert not call(copy_of(), "search", text="x", path="nowhere").ok


def test_a_symbol_is_found_where_it_is_defined() -> None:
    contents = {
        "tide.py": "class Tide:\n    def height(self):\n        return 1\n",
        "app.py": "from tide import Tide\n\nprint(Tide().height())\n",
        "notes.md": "The Tide.\n",
    }
    copy = WorkingCopy(modes=dict.fromkeys(contents, FILE), contents=contents)
    assert call(copy, "search", text="tide", kind="symbol").text.split("\n") == [
        "1 found for the symbol 'tide' in 3 files.",
        "tide.py:1: class Tide",
    ]
    assert call(copy, "search", text="height", kind="symbol").summary == "1 found"


def test_what_is_found_is_bounded() -> None:
    contents = {f"f{n}.py": "needle " * 500 + "\nneedle\n" * 500 for n in range(20)}
    found = call(WorkingCopy(modes=dict.fromkeys(contents, FILE), contents=contents), "search",
                 text="needle")  # fmt: skip
    assert len(found.text) <= MAX_RESULT
    assert found.summary == "100 or more found"


# --- Writing --------------------------------------------------------------------------------------


def test_a_file_is_edited_and_keeps_its_line_ends() -> None:
    copy = copy_of()
    assert call(copy, "edit_file", path="src/tide.py", old="= 1\nEBB", new="= 3\nLOW").ok
    assert call(copy, "edit_file", path="open.txt", old="end", new="end yet").ok
    assert copy.text("src/tide.py") == "TIDE = 3\r\nLOW = 2\r\n"
    assert copy.text("open.txt") == "no end yet"
    assert changes(copy) == {"src/tide.py": ("update", ""), "open.txt": ("update", "")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"old": "storm", "new": "x"}, "is not in the file"),
        ({"old": "i", "new": "x"}, "more than once"),
        ({"old": "", "new": "x"}, "empty"),
        ({"old": "waves", "new": "waves"}, "The new passage is the old one"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(arguments: dict[str, str], words: str) -> None:
    copy = copy_of()
    found = call(copy, "edit_file", path="src/app.py", **arguments)
    assert not found.ok
    assert words in found.text
    assert copy.files == []


def test_a_file_is_written_with_the_line_ends_of_what_it_replaces() -> None:
    copy = copy_of()
    assert call(copy, "write_file", path="src/tide.py", content="TIDE = 2\nLOW = 1").ok
    assert call(copy, "write_file", path="open.txt", content="still none\n").ok
    assert call(copy, "write_file", path="new/ü.md", content="new").ok
    assert copy.written == {
        "src/tide.py": "TIDE = 2\r\nLOW = 1\r\n",
        "open.txt": "still none",
        "new/ü.md": "new\n",
    }


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("far/away.py", "Read it first"),
        ("logo.bin", "no text"),
        ("link", "symbolic link"),
        ("src", "is a folder"),
        ("README.md/x", "README.md is a file"),
        ("a/../../b", '".."'),
        (".git/config", "folder of Git"),
        ("", "empty"),
        ("con.txt", "device"),
        ("a\u200bb", "invisible"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_sentence(path: str, words: str) -> None:
    copy = copy_of()
    found = call(copy, "write_file", path=path, content="x")
    assert not found.ok
    assert words in found.text
    assert copy.files == []


def test_a_file_is_moved_and_moved_again() -> None:
    copy = copy_of()
    assert call(copy, "move_file", path="src/app.py", new_path="src/main.py").ok
    assert call(copy, "edit_file", path="src/main.py", old="waves", new="calm").ok
    assert call(copy, "move_file", path="src/main.py", new_path="main.py").ok
    assert changes(copy) == {"main.py": ("create", "src/app.py"), "src/app.py": ("delete", "")}
    assert copy.text("main.py") == "import tide\n\nprint('calm')\n"
    again = copy_of(copy.files)
    assert (again.written, changes(again)) == (copy.written, changes(copy))


def test_what_is_as_it_was_is_no_change() -> None:
    copy = copy_of()
    call(copy, "move_file", path="src/app.py", new_path="main.py")
    call(copy, "move_file", path="main.py", new_path="src/app.py")
    call(copy, "write_file", path="README.md", content="# Other")
    call(copy, "write_file", path="README.md", content="# Seaside")
    call(copy, "write_file", path="new.md", content="x")
    call(copy, "delete_file", path="new.md")
    assert copy.files == []


def test_a_file_is_not_moved_onto_another() -> None:
    assert (
        "There is a file at README.md"
        in call(copy_of(), "move_file", path="src/app.py", new_path="README.md").text
    )
    assert not call(copy_of(), "move_file", path="logo.bin", new_path="x.bin").ok
    assert not call(copy_of(), "delete_file", path="link").ok


def test_a_file_whose_path_cannot_be_stored_stays_where_it_is() -> None:
    long = "d/" * 300 + "x.md"
    copy = WorkingCopy(modes={long: FILE}, contents={long: "x\n"})
    assert not call(copy, "move_file", path=long, new_path="x.md").ok
    assert not call(copy, "delete_file", path=long).ok
    assert (copy.files, copy.paths) == ([], [long])


def test_what_others_have_read_is_not_overwritten_unseen() -> None:
    copy = WorkingCopy(modes=MODES, contents=FILES, seen=["README.md"])
    assert "Read it first" in call(copy, "write_file", path="src/tide.py", content="x").text
    assert "Read it first" in call(copy, "edit_file", path="open.txt", old="no", new="an").text
    assert "Read it first" in call(copy, "move_file", path="open.txt", new_path="x.txt").text
    assert call(copy, "search", text="TIDE").summary == "2 found"
    assert call(copy, "read_file", path="src/tide.py").ok
    assert call(copy, "write_file", path="src/tide.py", content="x").ok
    assert call(copy, "write_file", path="README.md", content="x").ok


def test_sizes_and_numbers_are_bounded() -> None:
    copy = copy_of()
    assert not call(copy, "write_file", path="big.txt", content="x" * (MAX_FILE + 1)).ok
    for number in range(MAX_FILES):
        assert call(copy, "write_file", path=f"f{number}.txt", content="x").ok
    assert f"{MAX_FILES} files" in call(copy, "write_file", path="one-more.txt", content="x").text


# --- Arguments ------------------------------------------------------------------------------------


def test_the_functions_have_schemas_that_every_provider_takes() -> None:
    names = [each.name for each in FUNCTIONS]
    assert names == [
        *("list_files", "search", "read_file", "edit_file", "write_file"),
        *("delete_file", "move_file", "finish"),
    ]
    for each in FUNCTIONS:
        assert each.description.endswith(".")
        assert each.parameters["additionalProperties"] is False
        for field in each.parameters["properties"].values():
            assert field.keys() <= {"type", "description", "enum"}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("read_file", '{"path": "a', "no valid JSON"),
        ("read_file", "[1]", "an object"),
        ("read_file", "{}", "missing required field `path`"),
        ("read_file", '{"path": "README.md", "mode": "r"}', "unknown field `mode`"),
        ("read_file", '{"path": 7}', "Expected `str`, got `int` - at `$.path`"),
        ("read_file", '{"path": "README.md", "from_line": "two"}', "from_line"),
        ("search", '{"text": " "}', "empty"),
        ("list_files", json.dumps({"pattern": "*" * 300}), "at most"),
        ("search", '{"text": "x", "kind": "regex"}', "regex"),
        ("finish", '{"result": ""}', "result is empty"),
        ("run_shell", "{}", "There is no such function. There are list_files"),
        ("read_file", "[" * 100_000, "no valid JSON"),
    ],
)
def test_bad_arguments_are_answered_with_a_sentence(name: str, arguments: str, words: str) -> None:
    found = carry_out(copy_of(), name, arguments)
    assert not found.ok
    assert words in found.text


def test_what_nobody_can_store_is_left_out() -> None:
    copy = copy_of()
    assert carry_out(copy, "write_file", '{"path": "x.md", "content": "a\\u0000b\\ud83d"}').ok
    assert copy.text("x.md") == "ab�\n"


def test_null_is_a_field_that_is_left_out() -> None:
    arguments = '{"path": "README.md", "from_line": null, "to_line": null}'
    assert carry_out(copy_of(), "read_file", arguments).ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = ["path", "new_path", "text", "pattern", "kind", "from_line", "to_line", "old", "new"]
FIELDS += ["content", "result", "summary"]
WORDS = st.sampled_from(["README.md", "src", "src/tide.py", "link", "a/b", "1", "TIDE", "\r\n"])
NAMES = st.sampled_from([each.name for each in FUNCTIONS]) | st.text()


@given(
    st.lists(
        st.tuples(
            NAMES,
            st.dictionaries(st.sampled_from(FIELDS), WORDS | JSON).map(json.dumps)
            | JSON.map(json.dumps)
            | st.text(),
        ),
        max_size=6,
    )
)
@settings(max_examples=150, deadline=None)
def test_whatever_a_model_writes_is_answered_within_bounds(calls: list[tuple[str, str]]) -> None:
    copy = copy_of()
    for name, arguments in calls:
        found = carry_out(copy, name, arguments)
        assert found.text
        assert len(found.text) <= MAX_RESULT
        assert 0 < len(found.summary) <= MAX_SUMMARY
    assert copy.written.keys() <= {file.path for file in copy.files}


# --- The working copy and a plain dict ------------------------------------------------------------

PATHS = st.sampled_from(["a.txt", "b.txt", "d/a.txt", "d/e/f.txt", "new.txt"])
TEXTS = st.text(alphabet="ab\n", max_size=6)
ACTS = st.tuples(st.sampled_from(["write", "edit", "delete", "move"]), PATHS, PATHS, TEXTS, TEXTS)
START = {"a.txt": "a\nb\n", "b.txt": "ab\nab\nba\n", "d/a.txt": "b\n"}


def act_on(files: dict[str, str], what: str, path: str, other: str, old: str, new: str) -> bool:
    """The same on a plain dict; whether it was possible."""
    if what == "write":
        ends = "\n" if files.get(path, "").endswith("\n") or not files.get(path) else ""
        files[path] = (new.rstrip("\n") + ends) if new else new
        return True
    if path not in files:
        return False
    match what:
        case "delete":
            del files[path]
        case "move" if other not in files:
            files[other] = files.pop(path)
        case "edit":
            places = [n for n in range(len(files[path])) if files[path].startswith(old, n)]
            if not old or old == new or len(places) != 1:
                return False
            files[path] = files[path].replace(old, new)
        case _:
            return False
    return True


@given(st.lists(ACTS, max_size=12))
@settings(max_examples=300, deadline=None)
def test_a_working_copy_and_a_plain_dict_agree(acts: list[tuple[str, str, str, str, str]]) -> None:
    modes, files = dict.fromkeys(START, FILE), dict(START)
    copy = WorkingCopy(modes=modes, contents=START)
    for what, path, other, old, new in acts:
        arguments = {
            "write": {"content": new},
            "edit": {"old": old, "new": new},
            "delete": {},
            "move": {"new_path": other},
        }[what]
        found = call(copy, f"{what}_file", path=path, **arguments)
        assert found.ok == act_on(files, what, path, other, old, new), (what, path, found.text)
        # What is stored between two turns tells all of it.
        copy = WorkingCopy(modes=modes, contents=START, own=copy.files)
    assert {path: copy.text(path) for path in copy.paths} == files
    replayed = dict(START)
    for file in copy.files:
        if file.op == "delete":
            del replayed[file.path]
        else:
            assert (file.op == "update") == (file.path in START)
            replayed[file.path] = file.content
    assert replayed == files
