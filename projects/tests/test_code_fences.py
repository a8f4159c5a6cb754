"""Code fences around the whole content of a file, which models write although nobody asked."""

import pytest

from projects.code_fences import without_fence
from projects.outputs import OutputFile, read_output

MARK = "8f3a21c4"


def lines(text: str) -> list[str]:
    return text.split("\n")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("app.py", "```python\nprint(1)\n```"),
        ("src/app.py", "```\nprint(1)\n```"),
        ("src/app.py", "~~~py\nprint(1)\n~~~"),
        ("src/app.py", "```python:src/app.py\nprint(1)\n```"),
        ("src/app.py", "```src/app.py\nprint(1)\n```"),
        ("src/app.py", "\n```Python\r\nprint(1)\n```\r\n\n"),
        ("a.tsx", "````typescript\nprint(1)\n````"),
        ("Dockerfile", "```dockerfile\nprint(1)\n```"),
        ("notes.txt", "```text\nprint(1)\n```"),
        ("a.weird", "```weird\nprint(1)\n```"),
        ("README.md", "```markdown\nprint(1)\n```"),
        ("README.md", "```\nprint(1)\n```"),
    ],
)
def test_a_fence_around_a_file_is_taken_off(path: str, content: str) -> None:
    assert without_fence(path, lines(content)) == ["print(1)"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("app.py", "print(1)"),
        ("app.py", "```python\nprint(1)"),
        ("app.py", "print(1)\n```"),
        ("app.py", "```"),
        ("app.py", ""),
        ("app.py", "````python\nprint(1)\n```"),
        ("app.py", "```python\nprint(1)\n~~~"),
        ("notes.txt", "```python\nprint(1)\n```"),
        ("README.md", "```sh\nmake\n```"),
        ("README.md", "```sh\nmake\n```\n\nThen read on."),
        ("README.md", "```\nmake\n```\n\nThen:\n\n```\nmake test\n```"),
        ("README.md", "```md\nmake\n```\n\nThen:\n\n```sh\nmake test\n```"),
    ],
)
def test_a_fence_that_may_be_meant_stays(path: str, content: str) -> None:
    assert without_fence(path, lines(content)) is None


def test_fences_within_a_file_stay() -> None:
    inner = "# Sea\n\n```sh\nmake\n```\n\nDone."
    assert without_fence("a.md", lines(f"```markdown\n{inner}\n```")) == lines(inner)
    doc = '"""Say:\n\n```\nsea()\n```\n"""'
    assert without_fence("a.py", lines(f"```python\n{doc}\n```")) == lines(doc)


def block(path: str, content: str, op: str = "create") -> str:
    return f"@@FILE {MARK} {op} {path}\n{content}\n@@END {MARK}"


def test_an_answer_says_which_files_had_one() -> None:
    fenced = block("a.py", "```python\nprint(1)\n```")
    output = read_output(f"{fenced}\n{block('b.py', 'print(2)')}", MARK)
    assert [file.content for file in output.files] == ["print(1)", "print(2)"]
    assert [file.is_unfenced for file in output.files] == [True, False]
    assert output.faults == ()


def test_a_moved_file_with_other_content_has_none_either() -> None:
    moved = block("b.py", f"@@FROM {MARK} a.py\n```python\nprint(1)\n```", "move")
    [file] = read_output(moved, MARK).files
    assert file == OutputFile("b.py", "create", "print(1)", previous_path="a.py", is_unfenced=True)


def test_edits_within_a_fence_are_edits() -> None:
    edit = f"```python\n@@OLD {MARK}\nx\n@@NEW {MARK}\ny\n```"
    [file] = read_output(block("a.py", edit, "edit"), MARK).files
    assert [(each.old, each.new) for each in file.edits] == [("x", "y")]
