"""Names of branches, beside what Git itself says of them."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from integrations.workspaces.branches import MAX_BRANCH, branch_fault

# What the rules of `git help check-ref-format` are about, beside other text.
PIECES = [
    *(
        "HEAD",
        "@",
        "@{",
        "@{-1}",
        "a",
        "B",
        "-",
        "--",
        ".",
        "..",
        "/",
        "//",
        ".lock",
        "refs/heads/",
    ),
    *(
        "~",
        "^",
        ":",
        "?",
        "*",
        "[",
        "]",
        "\\",
        "{",
        "}",
        " ",
        "\t",
        "\n",
        "\x7f",
        "\x01",
        "ü",
        "分",
    ),
]
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)


def git_takes(name: str) -> bool:
    """A branch of exactly this name: `@{-1}` would stand for another one."""
    done = subprocess.run(  # noqa: S603 - the system's own
        ["git", "check-ref-format", "--branch", name],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0 and done.stdout == f"{name}\n"


def is_stricter_here(name: str) -> bool:
    """Hosts take `refs/...` for something else, Git's commands take `@` for HEAD, and nobody can
    see other blanks."""
    is_other = name == "@" or name.startswith("refs/")
    return is_other or not name.isprintable() or len(name.encode()) > MAX_BRANCH


@settings(max_examples=150, deadline=None)
@given(name=NAMES | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
@example(name="HEAD")
@example(name="HEAD\n")
@example(name="a\n")
@example(name="HEAD/x")
@example(name="heads/HEAD")
@example(name="-x")
@example(name="@")
@example(name="a@")
@example(name="a..b")
@example(name="a.lock")
@example(name="a.lock/b")
@example(name="a.locked")
@example(name=".a")
@example(name="a/.b")
@example(name="a.")
@example(name="a/")
@example(name="/a")
def test_a_branch_has_a_name_that_git_takes(name: str) -> None:
    if branch_fault(name) is None:
        assert git_takes(name)
    elif not is_stricter_here(name):
        assert not git_takes(name)


@pytest.mark.parametrize(
    "name", ["", "@", "refs/heads/a", "refs/x", "a\u00a0b", "a\u200bb", "x" * 201]
)
def test_some_names_that_git_takes_are_refused(name: str) -> None:
    assert branch_fault(name) is not None
