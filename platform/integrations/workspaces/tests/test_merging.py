"""Merges of two versions of a text, beside what Git itself makes of them."""

import subprocess
import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integrations.workspaces.merging import MAX_LINES, is_marked, merge

LINES = st.lists(st.sampled_from(["a", "b", "c", "ü", ""]), max_size=8)
TEXTS = st.tuples(LINES, st.sampled_from(["", "\n"])).map(lambda each: "\n".join(each[0]) + each[1])


def merged_by_git(folder: Path, base: str, ours: str, theirs: str) -> tuple[str, bool]:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(text.encode())
    names = ["-L", "this run", "-L", "base", "-L", "main", "ours", "base", "theirs"]
    done = subprocess.run(  # noqa: S603 - the system's own
        ["git", "merge-file", "-p", *names],  # noqa: S607
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return done.stdout.decode(), done.returncode == 0


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_a_merge_is_the_one_of_git(tmp_path: Path, base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs, theirs_name="main")
    assert (merged.text, merged.is_clean) == merged_by_git(tmp_path, base, ours, theirs)
    assert is_marked(merged.text) == (not merged.is_clean)


def test_line_ends_are_those_of_the_other_side() -> None:
    base, ours = "1\n2\n3\n", "1a\n2\n3\n"
    theirs = "1\r\n2\r\n3b\r\n"
    assert merge(base, ours, theirs, theirs_name="x").text == "1a\r\n2\r\n3b\r\n"
    assert merge(base.replace("\n", "\r\n"), ours, "1\n2\n3b\n", theirs_name="x").text == (
        "1a\n2\n3b\n"
    )
    marked = merge("1\n", "2\n", "3\r\n", theirs_name="x").text
    assert marked.split("\r\n") == ["<<<<<<< this run", "2", "=======", "3", ">>>>>>> x", ""]


def test_mixed_line_ends_stay_as_they_are() -> None:
    merged = merge("1\r\n2\n3\n4\n", "1\r\n2\n3\n4a\n", "1b\r\n2\n3\n4\n", theirs_name="x")
    assert merged.text == "1b\r\n2\n3\n4a\n"


def test_what_both_have_deleted_is_gone() -> None:
    assert merge("1\n", "", "", theirs_name="x").text == ""


def test_the_largest_texts_take_little_time() -> None:
    """Lines of few kinds are the worst there are."""
    each = MAX_LINES // 3
    texts = ["".join("ab"[n * n * step % 7 % 2] + "\n" for n in range(each)) for step in (3, 5, 11)]
    begun = time.process_time()
    merge(*texts, theirs_name="x")
    assert time.process_time() - begun < 10
